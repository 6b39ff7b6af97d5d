"""What destroys something asks once: on a page of its own, without a script, before anything is written."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.callers import Caller
from accounts.models import AssociationRequest
from accounts.services.associations import request_association
from applications.models import OwnerInvitation
from applications.services.tokens import issue_access_token
from delivery.models import ImportRun
from stores.models import CatalogUpload, Order
from stores.order_renderings import order_etag
from tests.factories.delivery import load_dataset
from tests.factories.orders import make_product, order_body
from tests.furnishing import furnish
from tests.world import World

WRITES = re.compile(r"\s*(INSERT INTO|UPDATE|DELETE FROM)", re.IGNORECASE)


def text(response) -> str:
    return " ".join(response.content.decode().split())


@pytest.fixture
def furnished(world) -> World:
    return furnish(world)


def portal_addresses(world: World) -> dict[str, str]:
    base = f"/applications/{world.application.pk}"
    webhook, key = world.application.webhooks.first(), world.application.keys.order_by("start_date")[1]
    asked = AssociationRequest.objects.filter(application=world.application, state="Pending")
    issue_access_token(
        user=world.user,
        application=world.other_application,
        scopes=["Store.Self.Read"],
        lifetime=timedelta(hours=1),
    )
    joining = AssociationRequest.objects.get(user=world.user)
    return {
        f"{base}/stores/{asked.get(store=world.unassociated).pk}/withdraw": "Withdraw the request for Unassoc",
        f"{base}/invitations/{OwnerInvitation.objects.get().pk}/withdraw": "Withdraw the invitation of guest@",
        f"/applications/join/{joining.pk}/withdraw": "Withdraw the request for Other?",
        f"{base}/keys/{key.pk}/end": "End this key",
        f"{base}/keys/{key.pk}/regenerate": "Regenerate this key",
        f"{base}/subscription/primary/regenerate": "Regenerate the primary",
        "/profile/keys/secondary/regenerate": "Regenerate the secondary",
        f"{base}/owners/{world.outsider.pk}/remove": "Remove Outsider Example?",
        f"{base}/owners/{world.user.pk}/remove": "Leave this application?",
        f"{base}/webhooks/{webhook.pk}/delete": "Delete this webhook?",
        f"{base}/webhooks/{webhook.pk}/secret": "Replace the secret?",
        f"/profile/authorizations/{world.other_application.pk}/revoke": "Revoke the access of Other?",
        "/profile/two-factor/off": "Turn off two-step sign-in",
        "/profile/two-factor/codes": "Make new recovery codes",
    }


def test_the_portal_asks_before_it_destroys(furnished, signed_in):
    addresses = portal_addresses(furnished)
    furnished.user.two_factor_since = timezone.now()
    furnished.user.save()
    browser = signed_in(furnished.user)

    for address, question in addresses.items():
        with CaptureQueriesContext(connection) as queries:
            page = browser.get(address)

        assert page.status_code == 200, address
        assert question in text(page), address
        assert '<form class="' in text(page)
        assert [one["sql"] for one in queries if WRITES.match(one["sql"])] == [], address


def test_what_was_decided_meanwhile_is_not_asked_about(furnished, browser):
    for asked in AssociationRequest.objects.filter(requested_by=furnished.user):
        kind = f"{furnished.application.pk}/stores" if asked.store_id else "join"
        AssociationRequest.objects.filter(pk=asked.pk).update(state="Denied", decided=timezone.now())
        back = browser.get(f"/applications/{kind}/{asked.pk}/withdraw")
        assert (back.status_code, back.headers["Location"]) == (302, f"/applications/{kind}")
    other = f"/applications/{furnished.application.pk}/invitations/{furnished.user.pk}/withdraw"
    assert browser.get(other).status_code == 404


@pytest.fixture
def console(world, client):
    client.force_login(world.operator)
    return client


def admin_posts(world: World) -> list[tuple[str, dict[str, str], str]]:
    """Address, what is sent, what is asked."""
    make_product(world.associated)
    placed = world.as_application().call("POST", "/store/associated/order", order_body())
    order = Order.objects.get(pk=placed.json()["OrderID"])
    asked, _ = request_association(
        caller=Caller.on_pages(world.user), application=world.application, store=world.unassociated
    )
    token = issue_access_token(
        user=world.user,
        application=world.application,
        scopes=["Store.Self.Read"],
        lifetime=timedelta(hours=1),
    )
    assert token
    dataset, run = load_dataset(active=False), ImportRun.objects.create(file_name="big.csv")
    upload = CatalogUpload.objects.create(file_name="spring.json", size=1, state="checked")
    key, product = world.application.keys.get(), world.associated.products.get()
    subscription = world.user.subscription
    moved = {"seen": order_etag(order), "note": "", "carrier": "", "tracking_number": ""}

    def action(name, record):
        return {"action": name, "_selected_action": str(record.pk), "index": "0"}

    application = f"/admin/applications/application/{world.application.pk}"
    board, inbox = "/admin/stores/order/", "/admin/accounts/associationrequest/"
    subscriptions = "/admin/accounts/subscription/"
    tokens = "/admin/oauth2_provider/accesstoken/"
    role = world.user.roles.first()
    return [
        (inbox, action("deny", asked), "Deny these requests?"),
        (f"{inbox}decide/", {"id": str(asked.pk), "deny": "1", "note": ""}, "Deny these requests?"),
        (board, action("cancel", order), "Cancel these orders?"),
        (board, action("refuse", order), "Refuse to cancel these orders?"),
        (f"{board}{order.pk}/change/", {**moved, "move_to": "90"}, "Cancel this order?"),
        (f"{board}{order.pk}/change/", {**moved, "move_to": "95"}, "Reject this order?"),
        (f"{board}{order.pk}/change/", {**moved, "move_to": "refuse"}, "Refuse to cancel this order?"),
        ("/admin/stores/product/", action("archive", product), "Take these products out of the catalog?"),
        (f"{application}/keys/{key.pk}/end/", {}, "End this key"),
        (f"{application}/keys/{key.pk}/regenerate/", {}, "Replace this key"),
        ("/admin/applications/application/", action("end_tokens", world.application), "End every token"),
        (subscriptions, action("regenerate_primary", subscription), "Regenerate the primary key"),
        (subscriptions, action("regenerate_secondary", subscription), "Regenerate the secondary key"),
        (tokens, {**action("revoke", role), "_selected_action": "1"}, "Revoke these access tokens"),
        (f"/admin/delivery/dataset/{dataset.pk}/discard/", {}, "Its counts are deleted"),
        (f"/admin/delivery/importrun/{run.pk}/throw-away/", {}, "Nothing of it was imported."),
        (f"/admin/stores/catalogupload/{upload.pk}/discard/", {}, "Nothing of it was imported."),
        (f"/admin/accounts/role/{role.pk}/delete/", {}, "Are you sure"),
        ("/admin/accounts/role/", action("delete_selected", role), "Are you sure"),
    ]


def test_the_console_asks_before_it_destroys(world, console):
    for address, sent, question in admin_posts(world):
        ask = console.get if address.endswith("/delete/") else console.post
        with CaptureQueriesContext(connection) as queries:
            page = ask(address, sent)

        assert page.status_code == 200, address
        assert question in text(page), (address, sent)
        assert 'name="confirmed"' in text(page) or 'name="post"' in text(page), address
        assert [one["sql"] for one in queries if WRITES.match(one["sql"])] == [], address
