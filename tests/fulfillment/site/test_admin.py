"""Every list and form of the admin opens for an operator, shows no secret, and is closed to everyone else."""

import gzip
import re
from itertools import product

import pytest
from django.contrib import admin
from django.contrib.contenttypes.models import ContentType
from django.urls import reverse

from accounts.callers import Caller
from accounts.models import Role, Tenant, User
from accounts.selectors.users import subscription_keys
from accounts.services.associations import request_association
from applications.registration.models import Application
from delivery.datasets.services.demo import load_demo_population
from stores.catalog.models import Store
from tests.factories.orders import make_product
from tests.support.database.snapshots import Snapshot
from tests.support.scenario import World, build_known_world, sign_in

MODELS = sorted(admin.site._registry, key=lambda model: model._meta.label)


def address(model, page, *arguments):
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=arguments)


@pytest.fixture(scope="module")
def made_full_world(snapshot_of) -> Snapshot[World]:
    return snapshot_of(lambda: fill(build_known_world()))


@pytest.fixture
def full_world(made_full_world, db) -> World:
    return made_full_world.restore()


def fill(world: World) -> World:
    load_demo_population()
    make_product(world.associated)
    world.as_user(world.user)
    request_association(
        caller=Caller.on_pages(world.user), application=world.application, store=world.unassociated
    )
    return world


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.label)
def test_list_and_form_open_and_show_no_secret(full_world, client, model):
    sign_in(client, full_world.operator)
    secrets = [*subscription_keys(full_world.user.subscription).values()]
    pages = [client.get(address(model, "changelist")), client.get(address(model, "changelist") + "?q=a&p=0")]
    if record := model._default_manager.first():
        pages.append(client.get(address(model, "change", record.pk)))
    if admin.site._registry[model].has_add_permission(pages[0].wsgi_request):
        pages.append(client.get(address(model, "add")))

    for page in pages:
        assert page.status_code in {200, 302}, page.content[:500]
        assert not any(secret in page.content.decode() for secret in secrets)
        assert "sfk_" not in page.content.decode()


def test_admin_is_closed_to_others(world, client):
    sign_in(client, world.outsider)

    assert client.get("/admin/").status_code == 302
    assert client.get("/admin/accounts/user/").status_code == 302
    refused = client.get("/admin/login/", headers={"Accept-Language": "de"})
    assert refused.status_code == 403
    assert "Die Konsole ist für Betreiber und Mitarbeiter von Shops." in refused.content.decode()


def test_several_requests_are_approved_at_once(full_world, client):
    sign_in(client, full_world.operator)
    model = next(model for model in MODELS if model.__name__ == "AssociationRequest")
    chosen = list(model.objects.values_list("pk", flat=True))

    values = {"action": "approve", "_selected_action": chosen}
    question = client.post(address(model, "changelist"), values).content.decode()
    assert "Approve these requests with the permissions requested?" in question
    assert model.objects.get().state == "Pending"

    response = client.post(address(model, "changelist"), {**values, "confirmed": "1"}, follow=True)
    assert ": approved." in response.content.decode()
    assert model.objects.get().state == "Approved"

    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "de"
    late = client.get(address(model, "decide"), {"id": chosen}, follow=True).content.decode()
    assert f": jetzt von {full_world.operator} genehmigt." in late


def test_more_requests_than_a_page_shows_are_not_decided_in_part(full_world, client, monkeypatch):
    sign_in(client, full_world.operator)
    model = next(model for model in MODELS if model.__name__ == "AssociationRequest")
    joining = Caller.on_pages(full_world.outsider)
    request_association(caller=joining, application=full_world.application, user_id=joining.user_id)
    monkeypatch.setattr(type(admin.site._registry[model]), "list_per_page", 1)
    chosen = [str(pk) for pk in model.objects.values_list("pk", flat=True)]

    page = client.post(
        address(model, "changelist"), {"action": "decide", "_selected_action": chosen}, follow=True
    )

    assert len(chosen) == 2
    assert "At most 1 requests are decided on one page." in page.content.decode()


def test_new_user_of_the_admin_has_a_subscription(world, client):
    sign_in(client, world.operator)

    client.post(
        "/admin/accounts/user/add/",
        {
            "tenant": world.tenant.pk,
            "username": "clerk",
            "first_name": "Cleo",
            "last_name": "Clerk",
            "email": "clerk@print.example",
            "phone": "",
            "password1": "a long pass phrase",
            "password2": "a long pass phrase",
            "usable_password": "true",
        },
    )

    clerk = type(world.user).objects.get(username="clerk")
    assert clerk.subscription.keys.count() == 2
    assert clerk.check_password("a long pass phrase")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", ["procrastinate/procrastinatejob/", "stores/order/", "stores/order/export/"])
def test_filter_that_is_none_leads_to_the_whole_list(world, client, path):
    sign_in(client, world.operator)

    response = client.get(f"/admin/{path}", {"status": "nothing"})

    assert (response.status_code, response["Location"][-4:]) == (302, "?e=1")
    assert client.get(response["Location"]).status_code == 200


def choosers():
    """Every field of a form, or of a table in one, whose record is chosen by typing a part of its name."""
    for model, model_admin in admin.site._registry.items():
        for holder in (model_admin, *(inline(model, admin.site) for inline in model_admin.inlines)):
            for name in holder.autocomplete_fields:
                yield holder.model, name


@pytest.mark.parametrize(
    ("model", "name"),
    sorted(set(choosers()), key=str),
    ids=lambda part: part if isinstance(part, str) else part._meta.label,
)
def test_related_records_are_found_by_typing(full_world, client, model, name):
    sign_in(client, full_world.operator)
    requested = {"app_label": model._meta.app_label, "model_name": model._meta.model_name, "field_name": name}
    known = model._meta.get_field(name).related_model._base_manager.count()

    answer = client.get("/admin/autocomplete/", requested).json()
    assert 0 < len(answer["results"]) == min(known, 20)
    assert client.get("/admin/autocomplete/", {**requested, "term": "no such thing"}).json()["results"] == []

    sign_in(client, full_world.outsider)
    assert client.get("/admin/autocomplete/", requested).status_code == 302


def test_relation_from_the_other_side_offers_no_records(world, client):
    sign_in(client, world.operator)
    requested = {"app_label": "accounts", "model_name": "user", "field_name": "roles"}

    assert client.get("/admin/autocomplete/", requested).status_code == 403


NOT_IN_A_LIST = ["", "zzz", "-1", "9" * 30, "00000000-0000-0000-0000-000000000000"]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.label)
def test_action_on_what_is_not_in_the_list_changes_nothing(full_world, client, model):
    sign_in(client, full_world.operator)
    request = client.get(address(model, "changelist")).wsgi_request
    before = list(model._base_manager.values())

    for action, key in product(admin.site._registry[model].get_actions(request), NOT_IN_A_LIST):
        values = {"action": action, "_selected_action": [key], "confirmed": "yes", "post": "yes"}
        assert client.post(address(model, "changelist"), values).status_code in {200, 302}

    assert list(model._base_manager.values()) == before


def test_there_is_no_way_from_a_table_to_its_records(world, client):
    sign_in(client, world.operator)

    content_type = ContentType.objects.get_for_model(Application)
    assert client.get(f"/admin/r/{content_type.pk}/{world.application.pk}/").status_code == 404


def test_records_of_one_name_are_distinguished_where_one_is_chosen(world, client):
    other = Tenant.objects.create(domain="other.example", name="Other")
    User.objects.create(tenant=other, username=world.user.username, email="namesake@other.example")
    Application.objects.filter(pk=world.other_application.pk).update(name=world.application.name)
    Store.objects.filter(pk=world.unassociated.pk).update(company_name=world.associated.company_name)
    sign_in(client, world.operator)

    for field in ("user", "application", "store"):
        requested = {"app_label": "accounts", "model_name": "role", "field_name": field}
        reported = [
            result["text"] for result in client.get("/admin/autocomplete/", requested).json()["results"]
        ]
        assert len(set(reported)) == len(reported) > 1


def test_address_that_a_person_only_claims_is_marked_where_a_person_is_chosen(world, client):
    User.objects.create(tenant=world.tenant, username="impostor", email=world.user.email)
    sign_in(client, world.operator)

    requested = {
        "app_label": "accounts",
        "model_name": "role",
        "field_name": "user",
        "term": world.user.email,
    }
    labels = {result["text"] for result in client.get("/admin/autocomplete/", requested).json()["results"]}

    assert labels == {f"user ({world.user.email})", f"impostor ({world.user.email}, not confirmed)"}


@pytest.mark.parametrize(
    ("joined", "more", "said"),
    [
        ("user", {}, "Choose a store or an application, or select Everywhere."),
        ("user store", {"everywhere": "on"}, "or Everywhere, not both"),
        ("user application store", {}, "Leave one of them empty"),
        ("user application", {}, "On an application these count: Application.All.Read"),
        (
            "user store",
            {"grant": "Application.Self.Write"},
            "these count: Budget.All.Write, Order.All.Approve",
        ),
        ("user store", {"grant": "Store.All.Read"}, "This role is already assigned."),
        ("store", {}, "A role belongs to a user, or associates an application with a store."),
        ("", {"everywhere": "on"}, "A role belongs to a user, or associates an application with a store."),
        ("user", {"store": "0"}, "Select a valid choice."),
    ],
)
def test_role_that_says_nothing_or_too_much_is_refused(world, client, joined, more, said):
    sign_in(client, world.operator)
    records = {"user": world.user.pk, "application": world.application.pk, "store": world.associated.pk}
    sent = {name: str(records[name]) for name in joined.split()}
    before = Role.objects.count()

    page = client.post("/admin/accounts/role/add/", {**sent, "grant": "Order.Self.Write", **more})

    assert (page.status_code, Role.objects.count()) == (200, before)
    assert said in page.content.decode()


@pytest.mark.parametrize(
    ("path", "sent", "german"),
    [
        (
            "accounts/role",
            {"grant": "Application.Self.Write"},
            "Für einen Shop gelten diese: Budget.All.Write",
        ),
        ("accounts/tenant", {"domain": "a b"}, "Schreiben Sie einen Domainnamen wie example.com."),
        ("production/provider", {"code": "A B"}, "Verwenden Sie nur 1 bis 40 Kleinbuchstaben"),
    ],
)
def test_mistakes_in_the_console_are_in_the_language_of_the_page(world, client, path, sent, german):
    sign_in(client, world.operator)
    role = {"user": world.user.pk, "store": world.associated.pk}

    page = client.post(f"/admin/{path}/add/", role | sent, headers={"Accept-Language": "de"})

    assert german in page.content.decode()


@pytest.mark.parametrize("place", ["store", "everywhere"])
def test_role_is_given_on_a_store_or_everywhere(world, client, place):
    sign_in(client, world.operator)
    chosen = {"store": str(world.unassociated.pk)} if place == "store" else {"everywhere": "on"}

    client.post(
        "/admin/accounts/role/add/", {"user": str(world.outsider.pk), "grant": "Order.All.Read", **chosen}
    )

    role = Role.objects.get(user=world.outsider, application=None)
    assert role.store == (world.unassociated if place == "store" else None)
    form = client.get(f"/admin/accounts/role/{role.pk}/change/").context["adminform"].form
    assert form["everywhere"].initial == (place == "everywhere")
    own = client.get(f"/admin/accounts/user/{world.outsider.pk}/change/").content.decode()
    assert "Read every order of a store (Order.All.Read)" in own
    matches = re.findall(r"field-everywhere.*?<span[^>]*>(Yes|No)</span>", own, re.DOTALL)
    assert ("Yes" in matches) == (place == "everywhere")


def test_filter_of_roles_is_called_as_the_field_is(world, client):
    sign_in(client, world.operator)
    page = client.get("/admin/accounts/role/").content.decode()

    assert re.findall(r"By (permission|grant)", page) == ["permission"]
    assert re.findall(r"field-(holder|place|user)\b", page)[:2] == ["holder", "place"]


def test_unknown_time_zone_of_a_user_is_refused(world, client):
    sign_in(client, world.operator)

    page = client.post(f"/admin/accounts/user/{world.user.pk}/change/", {"time_zone": "Mars"})

    assert "Unknown time zone." in page.context["adminform"].form.errors["time_zone"][0]


def test_tenant_joined_during_its_deletion_is_kept(world, client, monkeypatch):
    tenant = Tenant.objects.create(domain="new.example", name="New")
    delete = admin.site._registry[Tenant].delete_model

    def join_and_delete(request, record):
        User.objects.create(tenant=tenant, username="late", email="late@x.example")
        delete(request, record)

    monkeypatch.setattr(admin.site._registry[Tenant], "delete_model", join_and_delete)
    sign_in(client, world.operator)

    response = client.post(f"/admin/accounts/tenant/{tenant.pk}/delete/", {"post": "yes"}, follow=True)

    assert response.status_code == 200
    assert "A user joined this tenant in the meantime" in response.content.decode()
    assert Tenant.objects.filter(pk=tenant.pk).exists()


def test_pages_are_compressed_for_browsers_that_take_it(world, client):
    sign_in(client, world.operator)

    plain, small = client.get("/admin/"), client.get("/admin/", headers={"Accept-Encoding": "gzip"})

    assert "Content-Encoding" not in plain.headers
    assert small.headers["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in small.headers["Vary"]
    assert len(small.content) < len(plain.content) / 3
    assert b"Needs attention" in gzip.decompress(small.content)
