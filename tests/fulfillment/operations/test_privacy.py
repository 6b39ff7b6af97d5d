"""A person gets all that is kept of him, and can be forgotten."""

import io
import json
import tracemalloc
import zipfile
from unittest.mock import Mock

import pytest
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection
from django.test import Client, TestCase
from django.urls import reverse
from django.utils import timezone
from procrastinate.contrib.django.models import ProcrastinateJob

from accounts.callers import Caller
from accounts.models import AssociationRequest, IdempotentResponse, Role, Tenant, User
from accounts.selectors.users import subscription_keys
from accounts.services import personal_data
from accounts.services.email_changes import request_email_change
from accounts.services.idempotency import delete_responses_about
from accounts.services.mailed_links import request_reset_link
from applications.registration.models import Application
from applications.registration.services.applications import create_application
from applications.registration.services.owners import OwnerInvitation
from delivery.datasets.models import ImportRun
from fulfillment.core.audit.personal_data import ErasureOptions
from fulfillment.core.errors import Conflict
from fulfillment.core.files.storage import StorageUnavailable
from fulfillment.core.secrets import decrypt, encrypt
from fulfillment.operations.backups.programs import run_program
from fulfillment.operations.privacy import data_providers, erase_user, export_user_data, find_user
from stores.orders.models import Order, OrderStatus
from stores.orders.services import recipients
from stores.proofs.models import AssetFormat
from stores.proofs.services.assets import CleanPicture, add_asset
from tests.factories.accounts import UserFactory
from tests.factories.budgets import make_cost_center
from tests.factories.orders import make_product, order_body
from tests.factories.pictures import encode_picture
from tests.support.scenario import PASSWORD, build_world
from tests.support.servers.queued_jobs import mail_owners

# Of each link to a user the file of the export that contains it, or why none does. A new table wants a decision, and
# `erase_user` one as well.
LINKS = {
    "accounts.AssociationRequest.decided_by": "association_requests",
    "accounts.AssociationRequest.requested_by": "association_requests",
    "accounts.AssociationRequest.user": "association_requests",
    "accounts.Authenticator.user": "profile",
    "accounts.EmailChange.user": "email_changes",
    "accounts.IdempotentResponse.user": "kept_responses",
    "accounts.Notification.user": "notifications",
    "accounts.NotificationPreference.user": "notifications",
    "accounts.Role.user": "roles",
    "accounts.Subscription.user": "subscription",
    "accounts.User.counted_on": "profile",
    "accounts.UserEvent.pgh_obj": "profile_changes",
    "admin.LogEntry.user": "console_log",
    "applications.Application.user": "applications",
    "applications.LoggedRequest.user": "logged_requests",
    "applications.OwnerInvitation.decided_by": "owner_invitations",
    "applications.OwnerInvitation.invited_by": "owner_invitations",
    "delivery.EddmSelection.user": "eddm_selections",
    "oauth2_provider.AccessToken.user": "authorizations",
    "oauth2_provider.RefreshToken.user": "authorizations",
    "production.JobHistory.actor": "print_job_history",
    "stores.ArtworkUpload.user": "pictures",
    "stores.Asset.user": "pictures",
    "stores.ApprovalRequest.decided_by": "approvals",
    "stores.Batch.user": "batches",
    "stores.BatchApproval.decided_by": "batch_approvals",
    "stores.ColumnMapping.user": "column_mappings",
    "stores.CatalogUpload.created_by": "catalog_imports",
    "stores.CatalogUpload.imported_by": "catalog_imports",
    "stores.CostCenterMember.user": "cost_centers",
    "stores.Order.user": "orders",
    "stores.OrderComment.author": "order_comments",
    "stores.OrderHistory.actor": "order_history",
    "stores.OrderView.owner": "order_views",
    "stores.Quote.user": "quotes",
}
OF_THE_TRAIL = {
    "accounts.AssociationRequestEvent.decided_by",
    "accounts.AssociationRequestEvent.requested_by",
    "accounts.AssociationRequestEvent.user",
    "accounts.RoleEvent.user",
    "accounts.SubscriptionEvent.user",
    "applications.ApplicationEvent.user",
    "applications.OwnerInvitationEvent.decided_by",
    "applications.OwnerInvitationEvent.invited_by",
    "stores.CostCenterMemberEvent.user",
    "stores.ApprovalRequestEvent.decided_by",
    "stores.BatchApprovalEvent.decided_by",
    "stores.OrderEvent.user",
}
NOT_TOLD = {
    "oauth2_provider.DeviceGrant.user": "never issued here",
    "oauth2_provider.Grant.user": "a code of a minute, which becomes an access token or nothing",
    "oauth2_provider.IDToken.user": "never issued here",
    "pghistory.MiddlewareEvents.user": "a view over the trail without a table",
}
PERSON = {
    "username": "zenobia.quill",
    "first_name": "Zenobia",
    "last_name": "Quillfeather",
    "email": "zenobia@quillfeather.example",
    "phone": "+1 555 0142 338",
}


@pytest.fixture
def person(world):
    return make_person(world)


def make_person(world):
    """The world's user under a unique name, with an order, a role, a token and an e-mail change behind."""
    User.objects.filter(pk=world.user.pk).update(**{**PERSON, "first_name": "Zeno"})
    user = User.objects.get(pk=world.user.pk)
    user.first_name = "Zenobia"
    user.save()
    world.user = user
    make_product(world.associated)
    client = world.as_user(user)
    assert client.call("POST", "/store/associated/order", order_body()).status_code == 201
    body = {"ApplicationID": str(world.other_application.pk), "Message": "It is me, Zenobia Quillfeather"}
    assert client.call("POST", "/association", body).status_code in {200, 201}
    contacts = {"support_email": PERSON["email"].title(), "support_phone": PERSON["phone"]}
    for name, value in contacts.items():
        setattr(world.application, name, value)
    world.application.save()
    AssociationRequest.objects.filter(requested_by=user).update(note="Welcome, Zenobia")
    AssociationRequest.objects.create(
        application=world.other_application,
        user=world.operator,
        decided_by=user,
        decided=user.created,
        state="Denied",
        note="Ask again. Zenobia Quillfeather",
    )
    invitation = OwnerInvitation(
        application=world.other_application, email=PERSON["email"].upper(), digest="d"
    )
    invitation.sent = invitation.expires = user.created
    invitation.save()
    return user


def log_of_console(world, person):
    """What an operator did to records that are called by the person's name."""
    operator = Client()
    operator.force_login(world.operator)
    address = reverse("admin:accounts_subscription_change", args=[person.subscription.pk])
    assert operator.post(address, {"requests_per_minute": "77"}).status_code == 302
    message = [{"added": {"name": "role", "object": f"Order.All.Read for {person.username}"}}]
    LogEntry.objects.log_actions(world.operator.pk, [world.associated], 2, change_message=message)


def unpacked(content: bytes) -> dict[str, list[dict]]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: json.loads(archive.read(name)) for name in archive.namelist()}


def test_every_link_to_a_user_is_decided_about(world, person):
    links = {
        f"{model._meta.label}.{field.name}"
        for model in apps.get_models(include_auto_created=True)
        for field in model._meta.get_fields()
        if field.concrete and field.is_relation and field.related_model is User
    }

    assert links == set(LINKS) | OF_THE_TRAIL | set(NOT_TOLD)
    assert {f"{name}.json" for name in {*LINKS.values(), "trail"}} <= set(
        unpacked(export_user_data(user=person))
    )


def test_export_lists_pending_and_finished_requests(world, person, settings):
    request_email_change(user=person, email="zenobia@new.example")
    body = {"Items": [{"ProductID": "card", "Quantity": 100}], "ShipTo": {"CountryCode": "US"}}
    client = world.as_user(person)
    quoted = client.call("POST", "/store/associated/quote", body)
    assert quoted.status_code in {200, 201}, quoted.content
    assert (
        client.call(
            "POST", "/store/associated/order", order_body(), HTTP_IDEMPOTENCY_KEY="k" * 20
        ).status_code
        == 201
    )
    log_of_console(world, person)
    browser = Client()
    browser.force_login(person)
    assert (
        browser.post("/profile", {"first_name": "Zenobia", "last_name": "Q", "time_zone": "UTC"}).status_code
        == 302
    )
    LogEntry.objects.log_actions(person.pk, [world.outsider], 2, change_message="about somebody else")
    request = AssociationRequest.objects.create(
        application=world.application, user=world.outsider, message="of another person"
    )
    AssociationRequest.objects.filter(pk=request.pk).update(
        decided_by=person, decided=person.created, state="Denied", note="Not yet"
    )

    files = unpacked(export_user_data(user=person))

    assert [change["Email"] for change in files["email_changes.json"]] == ["zenobia@new.example"]
    assert files["quotes.json"][0]["QuoteID"] == quoted.json()["QuoteID"]
    assert files["kept_responses.json"][0]["Status"] == 201
    by_person = [entry for entry in files["console_log.json"] if entry["ByThisPerson"]]
    of_person = [entry for entry in files["console_log.json"] if not entry["ByThisPerson"]]
    assert [(entry["Kind"], entry["Object"], entry["Change"]) for entry in by_person] == [
        ("user", None, None)
    ]
    assert ("subscription", "Changed Requests per minute.") in {
        (entry["Kind"], entry["Change"]) for entry in of_person
    }
    decided = [entry for entry in files["association_requests.json"] if entry["DecidedByThisPerson"]]
    assert ("Not yet", None) in {(entry["Note"], entry["Message"]) for entry in decided}
    assert {"accounts.Role", "accounts.Subscription", "applications.Application"} <= {
        entry.get("Record") for entry in files["trail.json"]
    }
    assert "/profile" in {entry.get("Address") for entry in files["trail.json"]}
    assert "somebody else" not in json.dumps(files)
    assert "another person" not in json.dumps(files)


def test_export_holds_what_is_kept_and_no_secret(world, person, tmp_path):
    call_command("export_user_data", "zenobia.quill@print.example", str(tmp_path / "zenobia.zip"))

    files = unpacked((tmp_path / "zenobia.zip").read_bytes())
    assert set(files) == {f"{kind.name}.json" for kind in data_providers()}
    profile = files["profile.json"][0]
    assert (profile["Email"], profile["Phone"], profile["Tenant"]) == (
        PERSON["email"],
        PERSON["phone"],
        "print.example",
    )
    assert [change["first_name"] for change in files["profile_changes.json"]][-1] == "Zenobia"
    assert files["orders.json"][0]["Recipient"]["Name"] == "Dana Whitfield"
    assert {role["Grant"] for role in files["roles.json"]} >= {"Store.All.Read"}
    assert files["applications.json"][0]["Name"] == "Mail Studio"
    assert files["authorizations.json"]
    everything = json.dumps(files)
    assert not [key for key in subscription_keys(person.subscription).values() if key in everything]
    assert person.password not in everything
    assert (tmp_path / "zenobia.zip").stat().st_mode & 0o777 == 0o600
    with pytest.raises(CommandError, match="File exists"):
        call_command("export_user_data", "zenobia.quill", str(tmp_path / "zenobia.zip"))


@pytest.mark.slow
def test_export_of_who_did_much_is_packed_record_by_record(world):
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO pghistory_context (id, created_at, updated_at, metadata) SELECT gen_random_uuid(), now(),"
            " now(), jsonb_build_object('user', %s::text, 'url', '/application') FROM generate_series(1, 8000)",
            [str(world.outsider.pk)],
        )
    tracemalloc.start()
    content = export_user_data(user=world.outsider)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert len(unpacked(content)["trail.json"]) >= 8_000
    assert len(content) < 200_000
    assert peak < 4_000_000


def test_export_of_another_user_holds_none_of_this_data(world, person):
    everything = json.dumps(unpacked(export_user_data(user=world.outsider)))

    assert not [value for value in PERSON.values() if value in everything]


def test_last_owner_sees_why_leaving_is_refused(world, person):
    with pytest.raises(CommandError, match="last owner"):
        call_command("erase_user", "zenobia.quill")

    assert User.objects.get(pk=person.pk).email == PERSON["email"]


def test_last_owner_sees_the_application_and_the_next_step(world, person):
    with pytest.raises(CommandError) as refused:
        call_command("erase_user", PERSON["email"])

    named = [
        f"{application.name} ({application.pk})" for application in Application.objects.filter(user=person)
    ]
    assert named
    assert all(name in str(refused.value) for name in named)
    assert "--disable-applications" in str(refused.value)


def test_person_is_found_by_full_name_email_or_id_and_never_guessed(world):
    olivia = UserFactory(username="olivia", email="olivia@post.example")
    full = f"olivia@{olivia.tenant.domain}"
    for given in (full, full.upper(), "olivia@post.example", "olivia", str(olivia.pk)):
        assert find_user(given) == olivia
    other = UserFactory(username="other", email=full)

    with pytest.raises(Conflict) as refused:
        find_user(full)

    assert str(olivia.pk) in refused.value.message
    assert str(other.pk) in refused.value.message
    assert find_user(str(other.pk)) == other


def test_last_operator_is_not_erased(world):
    with pytest.raises(CommandError, match="last operator"):
        call_command("erase_user", "operator@print.example")
    with pytest.raises(CommandError, match="No user has the full name or e-mail address nobody"):
        call_command("erase_user", "nobody")


@pytest.mark.parametrize("failure", [StorageUnavailable, OperationalError])
def test_order_whose_files_cannot_be_deleted_is_named_and_stops_no_other(
    world, person, monkeypatch, capsys, failure
):
    """The user was erased already, so no second run found the orders that were left."""
    assert world.as_user(person).call("POST", "/store/associated/order", order_body()).status_code == 201
    Order.objects.update(status=OrderStatus.SHIPPED)
    failing, other = Order.objects.order_by("number")

    def erase_print_files(*, order_id):
        if order_id == failing.pk:
            raise failure

    monkeypatch.setattr(recipients, "erase_print_files", erase_print_files)
    call_command("erase_user", "zenobia.quill", "--disable-applications", "--erase-orders")

    assert f"erase_recipient --order {failing.number}\n" in capsys.readouterr().err
    erased = dict(Order.objects.values_list("number", "recipient_erased"))
    assert (erased[failing.number] is None, erased[other.number] is None) == (True, False)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_dump_holds_nothing_of_an_erased_user(tmp_path, capsys):
    world = build_world()
    person = make_person(world)
    request_reset_link(email=PERSON["email"])
    log_of_console(world, person)
    client, browser = world.as_user(person), Client()
    assert browser.login(username="zenobia.quill@print.example", password=PASSWORD)
    run_program("pg_dump", f"--file={tmp_path / 'before.sql'}")
    before = (tmp_path / "before.sql").read_text("utf-8")
    assert [value for value in PERSON.values() if value not in before] == []

    call_command("erase_user", "zenobia.quill", "--disable-applications", "--erase-orders")

    number = Order.objects.get().number
    assert f"erase_recipient --order {number}" in capsys.readouterr().err
    run_program("pg_dump", f"--file={tmp_path / 'after.sql'}")
    after = (tmp_path / "after.sql").read_text("utf-8").lower()
    assert [value for value in [*PERSON.values(), "zenobia"] if value.lower() in after] == []
    assert client.call("GET", "/application").status_code == 401
    assert browser.get("/profile").status_code == 302
    assert not Client().login(username="zenobia.quill@print.example", password=PASSWORD)
    order = Order.objects.get()
    assert (order.user_id, order.total > 0) == (person.pk, True)
    assert not Application.objects.get(pk=world.application.pk).is_enabled
    events = apps.get_model("accounts", "UserEvent").objects.filter(pgh_obj_id=person.pk)
    assert set(events.values_list("email", flat=True)) == {"[erased]"}
    assert events.count() >= 3


EARLIER = "jane.maiden@old-mail.example"


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_dump_holds_no_earlier_address_of_an_erased_user(tmp_path):
    world = build_world()
    person = make_person(world)
    person.email = EARLIER.title()
    person.save()
    invitation = OwnerInvitation(application=world.other_application, email=EARLIER, digest="e")
    invitation.sent = invitation.expires = person.created
    invitation.state, invitation.decided_by, invitation.decided = "Accepted", person, person.created
    invitation.save()
    invitation.state = "Withdrawn"
    invitation.save()
    request_reset_link(email=EARLIER)
    mail_owners(application=world.application, subject="x", text=f"New owner:\n{EARLIER.upper()}.")
    request_reset_link(email=f"another.{EARLIER}")
    mail_owners(application=world.application, subject="x", text=f"{EARLIER}.org is somebody else's")
    AssociationRequest.objects.filter(requested_by=person).update(note=f"Write to {EARLIER}")
    person.email = PERSON["email"]
    person.save()
    run_program("pg_dump", f"--file={tmp_path / 'before.sql'}")
    assert (tmp_path / "before.sql").read_text("utf-8").lower().count(EARLIER) > 7

    call_command("erase_user", "zenobia.quill", "--disable-applications", "--erase-orders")

    run_program("pg_dump", f"--file={tmp_path / 'after.sql'}")
    after = (tmp_path / "after.sql").read_text("utf-8").lower()
    of_others = after.replace(f"another.{EARLIER}", "").replace(f"{EARLIER}.org", "")
    assert (f"another.{EARLIER}" in after, f"{EARLIER}.org" in after) == (True, True)
    assert [value for value in [EARLIER, PERSON["email"], "maiden"] if value in of_others] == []


def test_erasing_a_person_removes_the_stored_response_in_which_another_made_the_account(world):
    client = world.as_user(world.user)
    for name in ("jane", "joan"):
        body = {"Username": name, "FirstName": "J", "LastName": "Doe", "Email": f"{name}@new.example"}
        client.call(
            "POST", "/user", {**body, "Password": "quiet-harbor-lamp"}, headers={"Idempotency-Key": name}
        )

    erase_user(user=User.objects.get(username="jane"))

    assert ["joan" in decrypt(kept.body) for kept in IdempotentResponse.objects.all()] == [True]


def test_erasing_a_person_reads_few_stored_responses_at_once(world):
    now, body = timezone.now(), encrypt("x" * 100_000)
    IdempotentResponse.objects.bulk_create(
        IdempotentResponse(key=str(number), status=200, headers={}, body=body, created=now)
        for number in range(400)
    )
    tracemalloc.start()

    delete_responses_about(record_id="y", created=now)

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200 * len(body)


@pytest.mark.parametrize("name", ["changed", "object", "Associated", "Name"])
def test_erasing_who_is_called_like_a_word_of_the_log_keeps_the_log_of_others(world, name):
    user = User.objects.create(
        tenant=world.tenant, username=name, email="m@x.example", first_name="Associated", last_name="Print"
    )
    message = [{"changed": {"name": "role", "object": "Order.All.Read for user", "fields": ["Name"]}}]
    for record in (world.associated, world.outsider):
        LogEntry.objects.log_actions(world.operator.pk, [record], 2, change_message=message)
    before = list(LogEntry.objects.order_by("pk").values_list("object_repr", "change_message"))

    erase_user(user=user)

    assert list(LogEntry.objects.order_by("pk").values_list("object_repr", "change_message")) == before


def test_erasing_finds_roles_of_a_name_beyond_ascii_in_the_log(world):
    user = User.objects.create(tenant=world.tenant, username="zénobie", email="z@x.example")
    message = [{"added": {"name": "role", "object": f"Order.All.Read for {user.username}"}}]
    LogEntry.objects.log_actions(world.operator.pk, [world.associated], 2, change_message=message)

    erase_user(user=user)

    assert LogEntry.objects.get().change_message == "[erased]"


@pytest.mark.parametrize("name", ["zoe", "zénobie"])
def test_erasing_finds_the_person_on_pages_of_other_records_in_the_log(world, signed_in, name):
    user = User.objects.create(tenant=world.tenant, username=name, email="z@x.example")
    console = signed_in(world.operator)
    none = {f"{prefix}-{kind}_FORMS": "0" for prefix in ("roles", "keys") for kind in ("TOTAL", "INITIAL")}
    forms = {
        f"/admin/applications/application/{world.application.pk}/change/": {
            **none,
            "name": world.application.name,
            "support_email": "help@print.example",
            "roles-TOTAL_FORMS": "1",
            "roles-0-user": str(user.pk),
            "roles-0-grant": "Application.Self.Read",
        },
        f"/admin/stores/costcenter/{make_cost_center(world.associated).pk}/change/": {
            "name": "Marketing",
            "members-TOTAL_FORMS": "1",
            "members-INITIAL_FORMS": "0",
            "members-0-user": str(user.pk),
        },
    }
    for page, form in forms.items():
        assert console.post(page, form).status_code == 302
    written = json.dumps(name)[1:-1]
    assert LogEntry.objects.filter(change_message__contains=written).count() == 2

    erase_user(user=user)

    assert not LogEntry.objects.filter(change_message__contains=written).exists()


def test_address_and_phone_that_were_only_claimed_touch_nothing_of_others(world, person):
    claims = {"email": person.email, "phone": person.phone}
    stranger = User.objects.create(tenant=person.tenant, username="stranger", **claims)
    request_reset_link(email=person.email)
    changed = f"Support email: {person.email}"
    LogEntry.objects.log_actions(world.operator.pk, [world.associated], 2, change_message=changed)

    exported = unpacked(export_user_data(user=stranger))
    erase_user(user=stranger)

    world.application.refresh_from_db()
    invitation = OwnerInvitation.objects.get(application=world.other_application)
    assert (exported["owner_invitations.json"], invitation.email) == ([], PERSON["email"].upper())
    assert world.application.support_email == PERSON["email"].title()
    assert world.application.support_phone == PERSON["phone"]
    assert ProcrastinateJob.objects.filter(args={"email": person.email}).exists()
    assert LogEntry.objects.get().change_message == changed


def test_unconfirmed_address_is_erased_from_the_persons_own_application(world, person):
    claims = {"email": "own@print.example", "phone": "+49 30 1"}
    owner = User.objects.create(tenant=person.tenant, username="owner", **claims)
    Role.objects.create(user=owner, application=world.application, grant="Application.All.Write")
    contacts = {"support_email": owner.email, "support_phone": owner.phone}
    Application.objects.filter(pk=world.application.pk).update(**contacts)

    erase_user(user=owner)

    world.application.refresh_from_db()
    assert (world.application.support_email, world.application.support_phone) == ("", "")


def test_name_shared_with_an_operator_of_another_tenant_touches_nothing_of_his(world):
    run = ImportRun.objects.create(file_name="routes.csv", created_by=world.operator.username)
    tenant = Tenant.objects.create(domain="other.example", name="Other")
    namesake = User.objects.create(tenant=tenant, username=world.operator.username, email="n@x.example")

    exported = unpacked(export_user_data(user=namesake))
    erase_user(user=namesake)

    run.refresh_from_db()
    assert (exported["imports.json"], run.created_by) == ([], world.operator.username)
    assert unpacked(export_user_data(user=world.operator))["imports.json"][0]["FileName"] == "routes.csv"


def test_import_of_an_erased_operator_no_longer_names_them(world):
    former = User.objects.create(
        tenant=world.tenant, username="former", email="f@x.example", is_operator=True
    )
    run = ImportRun.objects.create(file_name="routes.csv", created_by="former")
    former.is_operator = False
    former.save()

    erase_user(user=former)

    run.refresh_from_db()
    assert run.created_by == "[erased]"


def test_application_goes_over_to_another_owner(world, person):
    shared = create_application(caller=Caller.on_pages(person), values={"Name": "Shared", "Keys": [{}]})
    for application in (shared, world.application):
        for grant in ("Application.Self.Read", "Application.Self.Write"):
            application.roles.create(user=world.outsider, grant=grant)

    call_command("erase_user", "zenobia.quill")

    shared.refresh_from_db()
    assert (shared.user_id, shared.is_enabled) == (world.outsider.pk, True)


def test_application_with_a_reader_alone_is_disabled(world, person):
    """The command refused it with and without --disable-applications."""
    reader = UserFactory()
    Role.objects.create(user=reader, application=world.application, grant="Application.Self.Read")

    call_command("erase_user", "zenobia.quill", "--disable-applications")

    assert not Application.objects.get(pk=world.application.pk).is_enabled


def test_erasure_that_fails_keeps_the_files_of_pictures(world, person, stored_files, monkeypatch):
    """They were deleted at once: a later step that took too long left the person with pictures without files."""
    caller, files_before = Caller.on_pages(person), sorted(stored_files())
    picture = CleanPicture(encode_picture(), AssetFormat.PNG, 40, 30)
    add_asset(caller=caller, store_id=world.associated.pk, picture=picture)
    files_with_picture = sorted(stored_files())
    assert len(files_with_picture) == len(files_before) + 1
    with monkeypatch.context() as patched:
        patched.setattr(personal_data, "erase_console_log", Mock(side_effect=OperationalError))
        with pytest.raises(OperationalError):
            erase_user(user=person, options=ErasureOptions(disable_applications=True))
    assert sorted(stored_files()) == files_with_picture

    with TestCase.captureOnCommitCallbacks(execute=True):
        call_command("erase_user", "zenobia.quill", "--disable-applications")
    assert sorted(stored_files()) == files_before


def test_reader_of_an_application_whose_owner_is_inactive_disables_nothing(world, person):
    """The command called the reader its last owner, and would have disabled the application of another person."""
    shared = create_application(caller=Caller.on_pages(world.outsider), values={"Name": "Shared"})
    Role.objects.create(user=person, application=shared, grant="Application.Self.Read")
    User.objects.filter(pk=world.outsider.pk).update(is_active=False)

    call_command("erase_user", "zenobia.quill", "--disable-applications")

    shared.refresh_from_db()
    assert (shared.is_enabled, Role.objects.filter(user=person).exists()) == (True, False)


def test_application_of_a_person_without_a_role_on_it_is_no_obstacle(world, person):
    """An operator removed the role, and no command erased the person any more."""
    other = UserFactory()
    Role.objects.create(user=other, application=world.application, grant="Application.Self.Write")
    Role.objects.filter(user=person, application=world.application).delete()

    call_command("erase_user", "zenobia.quill", "--disable-applications")

    assert Application.objects.get(pk=world.application.pk).user == other
