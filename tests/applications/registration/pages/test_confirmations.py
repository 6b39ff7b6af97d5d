"""What destroys something asks once: on a page of its own, without a script, before anything is written."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import resolve
from django.utils import timezone

from accounts.models import AssociationRequest
from applications.oauth.services import issue_access_token
from applications.registration.models import OwnerInvitation
from tests.support.browser.portal_pages import ACTS_AT_ONCE, FORMS, NO_PAGE, addresses_to_try
from tests.support.database.snapshots import Snapshot
from tests.support.pages import text
from tests.support.scenario import World, confirm_password

# Every page is counted in a minute.
WRITES = re.compile(r"\s*(INSERT INTO (?!accounts_ratewindow)|UPDATE|DELETE FROM)", re.IGNORECASE)


@pytest.fixture
def world(made_portal: Snapshot[World], db) -> World:
    return made_portal.restore()


def portal_addresses(world: World) -> dict[str, str]:
    base = f"/applications/{world.application.pk}"
    webhook, key = world.application.webhooks.first(), world.application.keys.order_by("start_date")[1]
    requested = AssociationRequest.objects.filter(application=world.application, state="Pending")
    issue_access_token(
        user=world.user,
        application=world.other_application,
        scopes=["Store.Self.Read"],
        lifetime=timedelta(hours=1),
    )
    joining = AssociationRequest.objects.get(user=world.user)
    return {
        f"{base}/stores/{requested.get(store=world.unassociated).pk}/withdraw": "Withdraw the request for Unassoc",
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
        "/profile/two-factor/off": "Turn off two-factor authentication",
        "/profile/two-factor/codes": "Create new recovery codes",
    }


def test_portal_confirms_before_it_deletes(world, signed_in):
    addresses = portal_addresses(world)
    world.user.two_factor_since = timezone.now()
    world.user.save()
    browser = confirm_password(signed_in(world.user))

    for address, question in addresses.items():
        with CaptureQueriesContext(connection) as queries:
            page = browser.get(address)

        assert page.status_code == 200, address
        assert question in text(page), address
        assert '<form class="' in text(page)
        assert [query["sql"] for query in queries if WRITES.match(query["sql"])] == [], address


def test_decided_request_cannot_be_withdrawn(world, browser):
    for requested in AssociationRequest.objects.filter(requested_by=world.user):
        kind = f"{world.application.pk}/stores" if requested.store_id else "join"
        AssociationRequest.objects.filter(pk=requested.pk).update(state="Denied", decided=timezone.now())
        back = browser.get(f"/applications/{kind}/{requested.pk}/withdraw")
        assert (back.status_code, back.headers["Location"]) == (302, f"/applications/{kind}")
    other = f"/applications/{world.application.pk}/invitations/{world.user.pk}/withdraw"
    assert browser.get(other).status_code == 404


@pytest.mark.slow
def test_every_form_is_confirmed_or_known_to_delete_nothing(world, signed_in):
    """Where this fails, an address was added: name it in support/browser/portal_pages.py, or its question above."""
    browser = confirm_password(signed_in(world.user))
    kinds: dict[str, set[str]] = {"acts at once": set(), "takes a form": set()}
    for name, address in addresses_to_try():
        if name in NO_PAGE:
            continue
        if browser.get(address).status_code == 405:
            kinds["acts at once"].add(name)
        elif browser.post(address).status_code != 405:
            kinds["takes a form"].add(name)

    asking = {resolve(address).view_name for address in portal_addresses(world)}
    assert kinds == {"acts at once": set(ACTS_AT_ONCE), "takes a form": asking | FORMS}
