"""An erased recipient is found neither in a dump of the database nor among the files."""

from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
import time_machine
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import TestCase
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.callers import Caller
from accounts.models import IdempotentResponse
from accounts.services import idempotency
from applications.webhooks.models import Delivery, DeliveryAttempt, Event
from fulfillment.core.errors import Conflict
from fulfillment.core.files.storage import StorageUnavailable
from fulfillment.core.secrets import decrypt
from fulfillment.operations import retention
from fulfillment.operations.backups.programs import run_program
from fulfillment.operations.retention import prune
from stores.catalog.models import TemplateField
from stores.orders.models import (
    ActorKind,
    Order,
    OrderedAsset,
    OrderHistory,
    OrderStatus,
    OrderTally,
    OrderView,
)
from stores.orders.services import recipients, reprints
from stores.orders.services.changes import Actor
from stores.orders.services.print_files import print_folder, read_print_file, record_ordered_assets
from stores.orders.services.recipients import erase_recipient
from stores.orders.services.saved_views import save_order_view
from stores.orders.services.transitions import transition_order
from stores.proofs.models import Asset, Proof
from tests.factories.orders import card_data, make_card, order_body
from tests.factories.pictures import make_photo_card, upload
from tests.factories.webhooks import make_webhook

RECIPIENT = {
    "Name": "Wilhelmina Quarrington",
    "Company": "Quarrington Apiaries",
    "Address1": "77 Honeycomb Terrace",
    "Address2": "Hive 9",
    "City": "Beesworth",
    "State": "Nectarshire",
    "PostalCode": "80299-4471",
    "CountryCode": "US",
    "Phone": "+1 555 0199 771",
    "Email": "wilhelmina@quarrington.example",
}
PRINTED = "Zephyrine Blackthorne"
SECRETS = [
    *(RECIPIENT[name] for name in RECIPIENT if name != "CountryCode"),
    PRINTED,
    "Quarrington",
    "77%20Honeycomb%20Terrace",
]
OPERATOR = Actor(ActorKind.OPERATOR)


@pytest.fixture
def placed(shop):
    """A delivered order that left traces wherever an order can."""
    make_card(shop.store)
    data = {**card_data(), "Name": PRINTED}
    shop.client = shop.world.as_application()
    shop.client.call("POST", "/store/associated/product/card-two-sided/proof", data)
    body = order_body(
        Recipient=RECIPIENT,
        ExternalID="wq-1",
        Metadata={"greeting": "For Wilhelmina Quarrington"},
        Items=[{"ProductID": "card-two-sided", "Quantity": 100, "TemplateData": data}],
    )
    shop.body, shop.headers = body, {"Idempotency-Key": "order-wq"}
    shop.shown = shop.client.call("POST", "/store/associated/order", body, headers=shop.headers).json()
    order = shop.shown
    assert (
        shop.act(order, "status", {"Status": 30, "Note": "Call Wilhelmina Quarrington first"}).status_code
        == 200
    )
    assert shop.act(order, "status", {"Status": 40}).status_code == 200
    parcel = {
        "Carrier": "UPS",
        "TrackingNumber": "1Z999",
        "TrackingURL": "https://ups.example/?at=77%20Honeycomb%20Terrace",
    }
    assert shop.act(order, "status", {"Status": 60, "Shipments": [parcel]}).status_code == 200
    shop.order = Order.objects.get()
    return shop


def test_files_go_before_the_store_is_locked(placed, monkeypatch):
    """The proofs of an order of 80 items took two seconds, for which all other orders of the store waited."""
    done = []
    for name in ("delete_proof", "erase_print_files", "lock_order"):
        monkeypatch.setattr(recipients, name, noted(done, name, getattr(recipients, name)))

    erase_recipient(order=placed.order, actor=OPERATOR)

    assert {*done[: done.index("lock_order")]} == {"delete_proof"}
    assert done[done.index("lock_order") :] == ["lock_order", "erase_print_files"]


def noted(done, name, function):
    def run(*given, **named):
        done.append(name)
        return function(*given, **named)

    return run


def dump(tmp_path: Path) -> str:
    """The whole database as pg_dump writes it."""
    run_program("pg_dump", f"--file={tmp_path / 'dump.sql'}", "--inserts")
    return (tmp_path / "dump.sql").read_text("utf-8")


def stored() -> set[Path]:
    root = Path(settings.MEDIA_ROOT)
    paths = [path for folder in ("print-files", "proofs", "assets") for path in (root / folder).rglob("*")]
    return {path for path in paths if path.is_file()}


@pytest.fixture(autouse=True)
def of_others() -> set[Path]:
    """What other tests left behind."""
    return stored()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_dump_and_files_hold_nothing_of_an_erased_recipient(placed, tmp_path, of_others):
    before = dump(tmp_path)
    assert [secret for secret in SECRETS if secret not in before] == []
    assert default_storage.listdir(print_folder(placed.order.pk))[1]
    assert Proof.objects.count() == 1

    call_command("erase_recipient", "--email", "WILHELMINA@quarrington.example")

    after = dump(tmp_path)
    assert [secret for secret in SECRETS if secret in after] == []
    assert stored() == of_others
    assert Proof.objects.count() == 0
    # Encrypted, so that no dump shows it: the answer kept for a repeated request.
    assert IdempotentResponse.objects.count() == 1
    again = placed.client.call("POST", "/store/associated/order", placed.body, headers=placed.headers)
    assert again.status_code == 201
    assert [secret for secret in SECRETS if secret in again.content.decode()] == []


def proof_of(client, **values):
    """Of these values alone; gives the digest of the proof."""
    before = set(Proof.objects.values_list("digest", flat=True))
    response = client.call(
        "POST",
        "/store/associated/product/card-two-sided/proof",
        {"Name": "N. N.", "Title": "T.", "Phone": "+1 503 555 0000", "Email": "n@n.example", **values},
    )
    assert response.status_code == 200, response.content
    [new] = set(Proof.objects.values_list("digest", flat=True)) - before
    return new


@pytest.mark.django_db(transaction=True)
def test_proofs_tried_before_with_other_values_are_removed_with_the_order(placed, of_others):
    """Made before the order by the same caller; those of other people, of other callers and of later stay."""
    mine, other_caller = placed.client, placed.world.as_user(placed.world.user)
    proof_of(mine, Name=f"  {PRINTED.upper()} ", Title="Beekeeper")
    proof_of(mine, Name="Zephy", Email=RECIPIENT["Email"])
    proof_of(mine, Name="Zephyrine B.", Phone=RECIPIENT["Phone"])
    kept = {
        proof_of(mine, Name="Another Person", Title="Beekeeper's friend"),
        proof_of(other_caller, Name=PRINTED, Title="Of another caller"),
    }
    placed.client.call("POST", "/store/associated/order", {**placed.body, "ExternalID": "wq-2"})
    order = Order.objects.latest("number")
    kept.add(proof_of(mine, Name=PRINTED, Title="For an order to come"))

    erase_recipient(order=order, actor=OPERATOR, force=True)

    assert set(Proof.objects.values_list("digest", flat=True)) == kept
    folders = {path.parent.name for path in stored() - of_others if "proofs" in path.parts}
    assert folders == kept


def test_prices_statuses_and_history_stay(placed):
    before = Order.objects.get()
    tallies = list(OrderTally.objects.values_list())

    call_command("erase_recipient", "--order", str(before.number))

    after = placed.client.call("GET", f"/store/associated/order/{before.pk}").json()
    changed = {name for name in placed.shown if placed.shown[name] != after[name]}
    moved = {"Status", "StatusName", "Shipments", "Sequence", "Updated"}
    assert changed == {"Recipient", "Items", "Metadata"} | moved
    assert after["Recipient"] == {
        "Name": "[erased]",
        "Address1": "[erased]",
        "City": "[erased]",
        "PostalCode": "[erased]",
        "CountryCode": "US",
    }
    assert (after["Total"], after["Status"]) == (placed.shown["Total"], 60)
    assert (after["Items"][0]["TemplateData"], after["Items"][0]["PrintFile"]) == (None, None)
    assert list(OrderTally.objects.values_list()) == tallies
    notes = list(OrderHistory.objects.order_by("sequence").values_list("sequence", "status", "note"))
    assert notes == [
        (1, 10, ""),
        (2, 30, "[erased]"),
        (3, 40, ""),
        (4, 60, ""),
        (5, 60, "The recipient was erased."),
    ]
    row = placed.client.call("GET", "/store/associated/order/export").json()
    assert "Quarrington" not in str(row)


@pytest.mark.parametrize("by", ["--order", "--email"])
def test_saved_views_that_search_for_the_recipient_are_deleted(world, placed, by, capsys):
    views = {
        "Her orders": "q=wilhelmina%40Quarrington.example&status__exact=10",
        "For WILHELMINA QUARRINGTON": "",
        "Search": "q=Wilhelmina+quarrington",
        "Bees": "q=Beesworth&status__exact=10",
        "Her family": "q=Wilhelmina+Quarringtons",
    }
    for name, query in views.items():
        save_order_view(owner=world.operator, name=name, query=query)
    number = Order.objects.get().number
    expected = str(number) if by == "--order" else "wilhelmina@quarrington.example"

    call_command("erase_recipient", by, expected, "--dry-run")
    assert OrderView.objects.count() == 5
    call_command("erase_recipient", by, expected)

    assert [view.name for view in OrderView.objects.all()] == ["Bees", "Her family"]
    assert "3 saved views that search for the recipient were deleted." in capsys.readouterr().out


def test_saved_views_stay_with_an_order_that_stays(world, placed, capsys):
    Order.objects.update(status=OrderStatus.ACCEPTED)
    save_order_view(owner=world.operator, name="Hers", query="q=Wilhelmina+Quarrington")

    with pytest.raises(CommandError, match="not shipped yet"):
        call_command("erase_recipient", "--order", str(placed.order.pk))

    assert OrderView.objects.count() == 1


def test_views_are_not_deleted_for_two_letters(world, placed):
    Order.objects.update(recipient={**Order.objects.get().recipient, "Name": "DE"})
    save_order_view(owner=world.operator, name="Orders to DE", query="")

    call_command("erase_recipient", "--order", str(placed.order.pk))

    assert OrderView.objects.count() == 1


@pytest.mark.parametrize("external_id", ["PO-QUARRINGTON-7", "wq-7"])
def test_operator_learns_of_an_external_id_that_names_the_recipient(placed, external_id, capsys):
    """It stays: a repeated order is refused by it."""
    Order.objects.filter(pk=placed.order.pk).update(external_id=external_id)

    call_command("erase_recipient", "--order", str(placed.order.pk))

    out = capsys.readouterr().out
    number = str(Order.objects.get(pk=placed.order.pk).number)
    assert (f"seem to name their recipients: {number}." in out) is ("QUARRINGTON" in external_id)
    assert Order.objects.get(pk=placed.order.pk).external_id == external_id


def test_erasing_changes_the_version_readers_hold(placed):
    address = f"/store/associated/order/{placed.order.pk}"
    tag = placed.client.call("GET", address)["ETag"]

    erase_recipient(order=placed.order, actor=OPERATOR)

    assert placed.client.call("GET", address, headers={"If-None-Match": tag}).status_code == 200


def test_print_file_says_that_it_was_erased(placed):
    call_command("erase_recipient", "--order", str(placed.order.pk))

    address = (
        f"/store/associated/order/{placed.order.pk}/item/{placed.shown['Items'][0]['ItemKey']}/print-file"
    )
    response = placed.client.call("GET", address)
    assert (response.status_code, response.json()["Code"]) == (404, "print_file_erased")


@pytest.fixture
def photos(shop):
    """Orders of a picture, and what became of it after the first was delivered and erased."""
    make_photo_card(shop.store)
    client = shop.world.as_application()
    asset_id = upload(client)

    def order():
        item = {"ProductID": "photo-card", "Quantity": 100, "TemplateData": {"Photo": asset_id.upper()}}
        placed = client.call("POST", "/store/associated/order", order_body(Recipient=RECIPIENT, Items=[item]))
        return Order.objects.get(pk=placed.json()["OrderID"])

    def erase(order):
        # The file goes when the transaction has ended.
        with TestCase.captureOnCommitCallbacks(execute=True):
            erase_recipient(order=order, actor=OPERATOR, force=True)

    return SimpleNamespace(
        asset=Asset.objects.get(pk=asset_id),
        erase=erase,
        order=order,
        proof=lambda: client.call("POST", "/store/associated/product/photo-card/proof", {"Photo": asset_id}),
    )


def test_picture_printed_in_the_order_alone_is_removed_with_its_file(photos, stored_files):
    photos.erase(photos.order())

    assert not Asset.objects.exists()
    assert stored_files() == []


def test_picture_of_another_order_stays_until_that_is_erased_too(photos, stored_files):
    first, second = photos.order(), photos.order()

    photos.erase(first)
    assert Asset.objects.get().is_ordered
    photos.erase(second)

    assert not Asset.objects.exists()
    assert stored_files() == []


def test_picture_used_since_is_kept_as_one_never_ordered(photos):
    order = photos.order()
    ordered = timezone.now() - timedelta(days=2)
    Order.objects.update(created=ordered)
    Asset.objects.update(last_used=ordered)
    assert photos.proof().status_code == 200

    photos.erase(Order.objects.get(pk=order.pk))

    assert not Asset.objects.get().is_ordered


def test_picture_a_template_names_is_kept(photos):
    order = photos.order()
    TemplateField.objects.filter(field_name="Photo").update(default_value=str(photos.asset.pk))

    photos.erase(order)

    assert Asset.objects.get() == photos.asset


def test_picture_removed_while_its_print_was_made_is_no_obstacle(photos):
    order = photos.order()
    photos.asset.delete()

    record_ordered_assets(order_id=order.pk, asset_ids=[photos.asset.pk])

    assert not OrderedAsset.objects.exists()


def test_many_orders_at_work_are_counted_and_the_first_are_named(placed):
    waiting = [placed.place(body={**placed.body, "ExternalID": f"many-{n}"}).json() for n in range(7)]

    with pytest.raises(CommandError) as refused:
        call_command("erase_recipient", "--name", "wilhelmina quarrington", "--postal-code", "80299-4471")

    assert str(refused.value).startswith("7 orders are not shipped yet")
    order_numbers = [order["OrderNumber"] for order in waiting if order["OrderNumber"] in str(refused.value)]
    assert len(order_numbers) == 5
    assert len(str(refused.value)) < 250


def test_order_at_work_keeps_its_address_and_is_named(placed, capsys):
    waiting = placed.place(body={**placed.body, "ExternalID": "wq-2"}).json()

    with pytest.raises(
        CommandError, match=f"1 orders are not shipped yet .*: {waiting['OrderNumber']}. Run it again"
    ):
        call_command("erase_recipient", "--name", "wilhelmina quarrington", "--postal-code", "80299-4471")

    assert "Erased the recipients of 1 orders" in capsys.readouterr().out
    held = Order.objects.get(pk=waiting["OrderID"])
    assert held.recipient["Name"] == RECIPIENT["Name"]
    assert read_print_file(item=held.items.get()).startswith(b"%PDF")
    call_command("erase_recipient", "--order", waiting["OrderNumber"], "--force")
    held.refresh_from_db()
    assert held.recipient["Name"] == "[erased]"
    with pytest.raises(Conflict, match="erased: cancel or reject the order"):
        transition_order(order=held, status=OrderStatus.ACCEPTED, actor=OPERATOR)


def test_comments_are_erased_under_any_name_of_the_recipient(shop):
    order = shop.place(body=order_body(Recipient={**RECIPIENT, "Name": "\u738b\u82b3"})).json()
    assert shop.act(order, "status", {"Status": 30, "Note": "\u738b\u82b3 called"}).status_code == 200
    assert shop.act(order, "cancel", {"Reason": "Wilhelmina changed her mind"}).status_code == 200

    erase_recipient(order=Order.objects.get(), actor=OPERATOR)

    kept = Order.objects.get()
    texts = [kept.cancellation_reason, kept.cancellation_note, *kept.history.values_list("note", flat=True)]
    assert set(texts) <= {"", "[erased]", "The recipient was erased."}
    assert kept.cancellation_reason == "[erased]"


def test_answers_of_other_times_are_not_opened(placed, monkeypatch):
    opened = []
    monkeypatch.setattr(idempotency, "decrypt", lambda body: opened.append(body) or decrypt(body))
    body = order_body(ExternalID="later")
    placed.client.call("POST", "/store/associated/order", body, headers={"Idempotency-Key": "later"})
    IdempotentResponse.objects.filter(pk=IdempotentResponse.objects.latest("pk").pk).update(
        created=timezone.now() + timedelta(hours=2)
    )

    erase_recipient(order=placed.order, actor=OPERATOR)

    assert len(opened) == 1


def test_responses_about_other_orders_are_not_opened(placed, monkeypatch):
    """Below the store's lock, 1,000 of 40 kB took 0.4 s and 150 MB; one caller may have 12,000 of the same time."""
    opened = []
    monkeypatch.setattr(idempotency, "decrypt", lambda body: opened.append(body) or decrypt(body))
    placed.client.call("POST", "/store/associated/order", order_body(), headers={"Idempotency-Key": "other"})

    erase_recipient(order=placed.order, actor=OPERATOR)

    assert len(opened) == 1


def test_dry_run_names_orders_and_changes_nothing(placed, capsys):
    call_command("erase_recipient", "--email", RECIPIENT["Email"], "--dry-run")

    said = capsys.readouterr().out
    assert (
        said
        == f"{placed.order.number} {placed.order.pk} Shipped\nThe recipients of 1 orders would be erased.\n"
    )
    assert Order.objects.get().recipient == RECIPIENT


def test_reprint_of_an_order_that_is_erased_meanwhile_is_refused(placed, monkeypatch):
    def copied_slowly(order, items, order_id):
        files = copy_prints(order, items, order_id)
        erase_recipient(order=Order.objects.get(), actor=OPERATOR)
        return files

    copy_prints = reprints._copy_prints
    monkeypatch.setattr(reprints, "_copy_prints", copied_slowly)
    caller = Caller.on_pages(placed.world.operator)

    with pytest.raises(Conflict, match="was erased"):
        reprints.reprint_order(order=Order.objects.get(), positions=[0], caller=caller, known_reprints=0)

    assert Order.objects.count() == 1


@pytest.mark.parametrize("position", [0, 1, 2])
def test_reprints_are_removed_with_the_order(placed, position):
    reprint = placed.place(body=order_body(Recipient=RECIPIENT, ReprintOfOrderID=str(placed.order.pk))).json()
    again = placed.place(body=order_body(Recipient=RECIPIENT, ReprintOfOrderID=reprint["OrderID"])).json()
    Order.objects.filter(pk__in=[reprint["OrderID"], again["OrderID"]]).update(status=90)

    numbers = [str(placed.order.number), reprint["OrderNumber"], again["OrderNumber"]]
    call_command("erase_recipient", "--order", numbers[position])

    assert {order.recipient["Name"] for order in Order.objects.all()} == {"[erased]"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Name orders"),
        (["--name", "Ada"], "Name orders"),
        (["--email", "a@b.example", "--order", "1"], "Name orders"),
        (["--email", "a@b.example", "--name", "Ada"], "Name orders"),
        (["--order", "1", "--postal-code", "02139"], "Name orders"),
        (["--order", "x"], "neither an order number"),
        (["--order", "77"], "no order 77"),
    ],
)
def test_command_states_its_arguments(db, arguments, said):
    with pytest.raises(CommandError, match=said):
        call_command("erase_recipient", *arguments)


def test_leftovers_of_a_failing_storage_are_removed_by_the_next_run(placed, monkeypatch, of_others):
    with monkeypatch.context() as context:
        context.setattr(
            default_storage._wrapped, "delete", lambda name: (_ for _ in ()).throw(ConnectionError("away"))
        )
        with pytest.raises(CommandError, match="Run it again"):
            call_command("erase_recipient", "--order", str(placed.order.number))
    assert Order.objects.get().recipient == RECIPIENT

    call_command("erase_recipient", "--order", str(placed.order.number))
    default_storage.save(f"{print_folder(placed.order.pk)}/left.pdf", ContentFile(b"x"))
    call_command("erase_recipient", "--order", str(placed.order.number))

    assert stored() == of_others
    assert Order.objects.get().sequence == 5, "the second time changed nothing but the storage"


def test_events_are_sent_without_the_words(placed):
    event = Event.objects.filter(data__OrderID=str(placed.order.pk)).last()
    assert "77%20Honeycomb%20Terrace" in str(event.data)

    erase_recipient(order=placed.order, actor=OPERATOR)

    event.refresh_from_db()
    assert "77%20Honeycomb%20Terrace" not in str(event.data)
    assert event.data["OrderID"] == str(placed.order.pk)


def test_webhook_answers_naming_the_recipient_are_erased(placed):
    webhook = make_webhook(placed.world.application)
    event = Event.objects.filter(data__OrderID=str(placed.order.pk)).last()
    now = timezone.now()
    delivery = Delivery.objects.create(event=event, webhook=webhook, next_try=now, created=now)
    for body in ("Thanks, parcel for Wilhelmina noted.", "Thanks."):
        DeliveryAttempt.objects.create(
            delivery=delivery, timestamp=now, milliseconds=1, status_code=200, body=body
        )

    erase_recipient(order=placed.order, actor=OPERATOR)

    assert [attempt.body for attempt in delivery.attempts.all()] == ["[erased]", "Thanks."]


def test_expired_addresses_are_removed_automatically(placed, settings, monkeypatch):
    # time_machine moves the clock of this process, not that of the database.
    monkeypatch.setattr(retention, "database_now", timezone.now)
    in_work = placed.place(body=order_body(Recipient=RECIPIENT)).json()
    with time_machine.travel(timezone.now() + timedelta(days=400)):
        prune()
        assert Order.objects.filter(recipient_erased__isnull=True).count() == 2, "0 days is for ever"
        settings.ADDRESS_RETENTION_DAYS = 365
        prune()
    settings.ADDRESS_RETENTION_DAYS = 1
    prune()

    assert list(Order.objects.filter(recipient_erased__isnull=True).values_list("pk", flat=True)) == [
        Order.objects.get(pk=in_work["OrderID"]).pk
    ]
    assert OrderHistory.objects.last() is not None


@pytest.fixture
def failing(placed, monkeypatch):
    """The older of two orders for the recipient; its files cannot be deleted."""
    placed.place(body=order_body(Recipient=RECIPIENT))
    Order.objects.update(status=OrderStatus.SHIPPED)

    def erase_print_files(*, order_id):
        if order_id == placed.order.pk:
            raise StorageUnavailable

    monkeypatch.setattr(recipients, "erase_print_files", erase_print_files)
    return placed.order


def unerased():
    return list(Order.objects.filter(recipient_erased=None).values_list("pk", flat=True))


def test_expired_address_of_an_order_that_keeps_its_files_stops_no_other(failing, settings):
    """Each night began with the same order, and no younger one was ever erased."""
    settings.ADDRESS_RETENTION_DAYS = 30
    Order.objects.update(updated=timezone.now() - timedelta(days=40))

    report = {one.name: one for one in prune()}["addresses of old orders"]

    assert unerased() == [failing.pk]
    assert (report.count, "file storage" in report.failure) == (1, True)


def test_command_erases_others_where_one_order_keeps_its_files(failing, capsys):
    """Run again, the command ended at the same order."""
    with pytest.raises(CommandError, match="Not everything could be erased now"):
        call_command("erase_recipient", "--email", RECIPIENT["Email"])

    assert unerased() == [failing.pk]
    written = capsys.readouterr()
    assert (f"{failing.number}: The file storage" in written.err, "of 1 orders" in written.out) == (
        True,
        True,
    )


def test_old_addresses_are_found_by_an_index(placed, settings):
    settings.ADDRESS_RETENTION_DAYS = 30
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        plan = recipients._old_addresses().order_by("updated")[:100].explain()

    assert "order_with_old_address" in plan


def test_events_of_an_order_are_found_by_an_index(placed):
    """The lock of the store's orders is held meanwhile, and each old address asks anew."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO applications_event (event_id, application_id, store_id, type, timestamp, data) SELECT "
            "gen_random_uuid(), application_id, '', type, timestamp, jsonb_build_object('OrderID', gen_random_uuid()) "
            "FROM applications_event, generate_series(1, 2000)"
        )
        cursor.execute("ANALYZE applications_event")
        with CaptureQueriesContext(connection) as requested:
            erase_recipient(order=placed.order, actor=OPERATOR)
        first = next(
            query["sql"] for query in requested if "->" in query["sql"] and "OrderID" in query["sql"]
        )
        cursor.execute(f"EXPLAIN {first}")
        plan = str(cursor.fetchall())

    assert "event_of_order" in plan
    assert "Seq Scan" not in plan


def test_order_at_work_is_refused_by_the_service(placed):
    order = Order.objects.get(pk=placed.place().json()["OrderID"])

    with pytest.raises(Conflict, match="until it is shipped"):
        erase_recipient(order=order, actor=OPERATOR)
