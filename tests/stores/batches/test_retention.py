"""What is left of rows: by age, and when a person is erased."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts.models import Notification, NotificationKind, Role
from fulfillment.core.errors import Conflict
from fulfillment.core.files.storage import StorageUnavailable
from stores.batches.models import Batch, BatchRow
from stores.batches.row_files import rows_file
from stores.batches.selectors.rows import rows_of
from stores.batches.services import contact_sheets, personal_data
from stores.batches.services.approvals import approve_batch
from stores.batches.services.ordering import ORDER_TASK, order_batch
from stores.batches.services.personal_data import (
    erase_unordered_recipients,
    erase_unordered_rows,
    retention_rules,
)
from stores.batches.services.rows import CHECK_TASK, replace_rows
from stores.catalog.models import Store
from stores.orders.models import ActorKind, Order, OrderStatus
from stores.orders.services.changes import Actor
from stores.proofs.file_names import proof_files
from tests.factories.orders import RECIPIENT, make_card
from tests.support.batches.batches import (
    approver,
    checked,
    fresh,
    letters,
    make_batch,
    ordered,
    person,
    source_of,
)
from tests.support.printing.pdf_reading import written_text
from tests.support.servers.queued_jobs import work_off

pytestmark = pytest.mark.django_db


@pytest.fixture
def shown(access, monkeypatch):
    """What the file of a batch's rows and its contact sheet say, without spaces."""

    def read(batch):
        drawn = []
        monkeypatch.setattr(contact_sheets, "contact_sheet", lambda cells, title: drawn.extend(cells))
        contact_sheets.render_contact_sheet(batch=batch, rows=list(rows_of(batch)), caller=access.caller)
        file = b"".join(rows_file(batch, [], "csv", access.caller).streaming_content).decode()
        texts = [
            text for cell in drawn for text in (*cell.lines, written_text(cell.page) if cell.page else "")
        ]
        return "".join([file, *texts]).replace(" ", "")

    return read


def prune():
    for rule in retention_rules():
        list(rule.remove(100))


def test_batches_go_after_their_rows(access):
    """With them, 120 batches of 20,000 rows took longer than a statement may: all batches stayed every night."""
    letters(access)
    Batch.objects.update(updated=timezone.now() - timedelta(days=31))
    left = {}

    for rule in retention_rules():
        left[rule.name] = BatchRow.objects.count()
        list(rule.remove(2))

    assert left["batches that were not ordered"] == 0
    assert not Batch.objects.exists()


def test_batch_of_a_stopped_removal_is_not_ordered_in_part(access):
    batch = letters(access)
    Batch.objects.update(updated=timezone.now() - timedelta(days=31))

    next(iter(retention_rules()[0].remove(1)))

    assert BatchRow.objects.count() == 2
    with pytest.raises(Conflict):
        ordered(fresh(batch))


def test_unordered_rows_go_after_30_days_and_ordered_ones_stay(access):
    kept = ordered(letters(access, 1))
    product = kept.product.external_id
    young, old = (letters(access, 1, product_id=product) for _ in range(2))
    mixed = checked(make_batch(access, [person(4), person(5, Mail="nowhere")], product_id=product))
    ordered(mixed, only_ready=True)
    Batch.objects.exclude(pk=young.pk).update(updated=timezone.now() - timedelta(days=31))

    prune()

    assert set(Batch.objects.values_list("pk", flat=True)) == {kept.pk, young.pk, mixed.pk}
    assert not BatchRow.objects.filter(batch=old).exists()
    assert list(mixed.rows.values_list("state", flat=True)) == ["Ordered"]


def test_ordered_batch_goes_with_its_last_order(access):
    batch = letters(access, 1)
    Batch.objects.filter(pk=batch.pk).update(is_test=True)
    batch = ordered(fresh(batch))
    Order.objects.all().delete()
    Batch.objects.update(updated=timezone.now() - timedelta(days=31))

    prune()

    assert not Batch.objects.exists()


def test_erasing_the_recipient_of_an_order_erases_its_row(access, shown):
    batch = ordered(letters(access, 2))
    first = batch.rows.get(number=2)
    output = StringIO()

    call_command("erase_recipient", order=[str(first.order.number)], force=True, stdout=output)

    erased, other = batch.rows.order_by("number")
    assert (erased.name, erased.values, erased.proof) == ("", {}, "")
    assert other.name == "Person 002"
    assert erased.order.items.get().label == ""
    said = shown(batch)
    assert "Person001" not in said
    assert said.count("Person002") >= 3, "in the file, below the picture and in it"
    assert list(rows_of(batch, words="person 001")) == []


def test_erasing_an_order_erases_the_address_that_its_batch_adds_to_rows(access):
    """What a batch of the mode Recipients has for rows without a cell is needed until all of them are ordered."""
    rows = [{**person(number), "Addressee": "Grace Hopper"} for number in (1, 2)]
    batch = checked(make_batch(access, rows, mode="Recipients", recipient=RECIPIENT))
    kept = fresh(batch).recipient
    batch = ordered(batch)
    assert fresh(batch).recipient == kept == RECIPIENT

    call_command("erase_recipient", order=[str(batch.rows.first().order.number)], force=True)

    assert set(fresh(batch).recipient.values()) == {"[erased]"}
    assert batch.rows.last().order.recipient["Name"] == "Grace Hopper"


@pytest.mark.parametrize("ordered_by", ["", "its application", "a print house"])
def test_erasing_a_recipient_erases_it_in_the_stored_responses_of_its_batch(access, world, ordered_by):
    """A repeated request got the erased address for a day."""
    card, client = make_card(access.store), world.as_application()
    body = {"ProductID": card.external_id, "Mode": "Items", "Quantity": 100, "Recipient": RECIPIENT}
    requests = [(client, "/store/associated/batch", body)]

    def send(number):
        caller, path, content = requests[number]
        return caller.call("POST", path, content, HTTP_IDEMPOTENCY_KEY=f"k-{number}")

    made = send(0).json()
    batch = Batch.objects.get(pk=made["BatchID"])
    replace_rows(batch=fresh(batch), source=source_of([person(1)]))
    work_off(CHECK_TASK)
    if ordered_by == "a print house":
        Role.objects.create(application=world.other_application, store=access.store, grant="Order.All.Write")
        client = world.as_application(world.other_application, ("Order.All.Write",))
    if ordered_by:
        requests.append((client, f"/store/associated/batch/{batch.pk}/order", {}))
        assert send(1).json()["Recipient"] == made["Recipient"] == RECIPIENT
        work_off(ORDER_TASK)
        call_command("erase_recipient", order=[str(batch.rows.get().order.number)], force=True)
    else:
        erase_unordered_recipients(words=[RECIPIENT["Name"]])

    for number in range(len(requests)):
        again = send(number)
        assert (again["Idempotent-Replayed"], again.json()["BatchID"]) == ("true", made["BatchID"])
        assert set(again.json()["Recipient"].values()) == {"[erased]"}


def test_erasing_an_order_erases_the_note_on_the_approval_of_its_batch(access, world):
    Store.objects.filter(pk=access.store.pk).update(approval_above=20)
    access.store.refresh_from_db()
    batch = letters(access, 2)
    order_batch(batch=fresh(batch), actor=Actor(ActorKind.APPLICATION))
    approve_batch(batch=fresh(batch), actor=approver(world), note="For Person 001 only.")
    work_off(ORDER_TASK)

    call_command("erase_recipient", order=[str(batch.rows.first().order.number)], force=True)

    notification = Notification.objects.get(kind=NotificationKind.APPROVAL_DECIDED)
    assert (fresh(batch).approval.note, notification.text) == ("[erased]", "[erased]")


def test_erasing_a_person_deletes_the_rows_that_are_not_ordered(access, shown):
    batch = letters(access, 2)
    first, other = (proof_files(row.proof, 0)[0] for row in batch.rows.order_by("number"))
    output = StringIO()

    call_command("erase_recipient", email="PERSON1@print.example", stdout=output)

    assert "1 rows of batches that are not ordered were deleted" in output.getvalue()
    assert [row.name for row in batch.rows.all()] == ["Person 002"]
    assert "Person001" not in shown(batch)
    assert [default_storage.exists(file) for file in (first, other)] == [False, True]


def test_row_whose_proof_cannot_be_deleted_keeps_no_other_data_of_the_person(access, monkeypatch):
    """The command ended there in each run, before it came to the person's orders."""
    order = ordered(letters(access, 1)).rows.get().order
    Order.objects.filter(pk=order.pk).update(status=OrderStatus.SHIPPED)
    stuck, free = (letters(access, 1, product_id="card-two-sided").rows.get() for _ in range(2))
    BatchRow.objects.filter(pk=free.pk).update(proof="")

    def delete_proof(*, digest):
        raise StorageUnavailable

    monkeypatch.setattr(personal_data, "delete_proof", delete_proof)
    who = {"name": order.recipient["Name"], "postal_code": order.recipient["PostalCode"]}
    with pytest.raises(CommandError, match="Not everything could be erased now"):
        call_command("erase_recipient", **who)

    assert Order.objects.get(pk=order.pk).recipient_erased
    assert list(BatchRow.objects.filter(order=None)) == [stuck]


def test_rows_of_a_person_in_a_batch_that_waits_for_approval_are_named(access):
    """The command said nothing of them, and the person got an order days later."""
    Store.objects.filter(pk=access.store.pk).update(approval_above=20)
    access.store.refresh_from_db()
    batch = letters(access, 2)
    order_batch(batch=fresh(batch), actor=Actor(ActorKind.APPLICATION))
    output = StringIO()

    call_command("erase_recipient", email="person1@print.example", stdout=output)

    assert batch.rows.count() == 2
    assert f"batches that are being ordered keep the recipient: {batch.pk}" in output.getvalue()


def test_rows_of_a_person_with_a_longer_address_or_name_stay(access):
    batch = letters(access, 1)
    name = batch.rows.get().name

    assert erase_unordered_rows(words=["erson1@print.example"]) == 0
    assert erase_unordered_rows(words=[name[:-1]]) == 0
    assert erase_unordered_rows(words=[f" {name.upper()}", "Person1@print.example"]) == 1


ESCAPED = ['Robert "Bob" Smith', "Back\\slash", "Tab\tbed", "Zoë \u2028 Ω"]


@pytest.mark.parametrize("name", ESCAPED)
def test_names_that_json_escapes_are_erased_as_well(access, name):
    batch = letters(access, 1)
    row = batch.rows.get()
    row.values["Recipient.Name"] = name
    row.save()
    to_one = make_batch(access, product_id=batch.product.external_id, recipient={**RECIPIENT, "Name": name})

    assert erase_unordered_rows(words=[name.upper()]) == 1
    assert erase_unordered_recipients(words=[name.upper()]) == 1

    assert set(fresh(to_one).recipient.values()) == {"[erased]"}


def test_erasing_the_one_recipient_of_a_batch_cancels_it(access):
    batch = checked(make_batch(access, [person(1)]))
    who = {"name": batch.recipient["Name"], "postal_code": batch.recipient["PostalCode"]}
    output = StringIO()

    call_command("erase_recipient", **who, dry_run=True, stdout=output)
    assert fresh(batch).status == "Checked"
    call_command("erase_recipient", **who, stdout=output)

    assert output.getvalue().count("1 batches to the recipient") == 2
    erased = fresh(batch)
    assert (erased.status, set(erased.recipient.values())) == ("Cancelled", {"[erased]"})
