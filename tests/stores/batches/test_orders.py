"""A checked batch is ordered: each row once, within its budgets, approved as a whole."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import pytest
from django.core.files.storage import default_storage
from django.db.models import F
from django.utils import timezone, translation

from accounts.callers import Caller
from accounts.models import Role, User
from applications.oauth.services import issue_access_token, revoke_tokens
from applications.registration.models import Application
from applications.webhooks.models import Event
from fulfillment.core.errors import Conflict, Forbidden, Unavailable
from fulfillment.core.files.storage import stored_names
from fulfillment.core.recorded_texts import translated
from printing.imposition import Stamp
from production.jobs.services.adapter_jobs import build_item_job
from production.tickets.json_ticket import write_json_ticket
from production.tickets.xjdf import write_xjdf
from stores.batches.models import Batch, BatchRow
from stores.batches.overview import BatchPage
from stores.batches.selectors.batches import budget_decision, counts_of
from stores.batches.services import ordering
from stores.batches.services.batches import cancel_batch, start_check
from stores.batches.services.checking import correct_row
from stores.batches.services.ordering import NO_ACCESS, ORDER_TASK, order_batch, write_orders
from stores.budgets.models import BudgetEntry
from stores.budgets.services.ledger import check_balances
from stores.catalog.models import DeliveredPrice, Product, ProductionSpeed, Store
from stores.orders.models import ActorKind, Order, OrderItem
from stores.orders.selectors.access import WRITE, authorize_store
from stores.orders.services.cancellation import cancel_order
from stores.orders.services.changes import Actor, actor_of
from stores.orders.services.packing_slips import render_packing_slip
from stores.orders.services.print_files import PRINT_FILES
from stores.proofs.file_names import asset_file
from tests.factories.budgets import make_budget
from tests.factories.pictures import make_photo_card, upload
from tests.support.batches.batches import (
    ADDRESS,
    TARGETS,
    access_to,
    addressed,
    change_template,
    checked,
    fresh,
    letters,
    make_batch,
    ordered,
    person,
    rows_by_name,
    states_of,
    used,
)
from tests.support.printing.pdf_reading import written_text
from tests.support.servers.queued_jobs import work_off

pytestmark = pytest.mark.django_db
OWNER = Actor(ActorKind.APPLICATION)
# Of a row: 100 pieces at 0.12.
PRICE = Decimal("12.00")


def test_items_become_one_order_in_the_order_of_the_file(access):
    batch = ordered(checked(make_batch(access, [person(1, Key="a b"), person(2, Key="c")])))

    order = Order.objects.get()
    assert (batch.status, order.total, order.item_count) == ("Ordered", 2 * PRICE, 2)
    assert [item.label for item in order.items.all()] == ["Person 001 (a b)", "Person 002 (c)"]
    assert set(batch.rows.values_list("order", "state")) == {(order.pk, "Ordered")}
    assert Event.objects.get(type="batch.ordered").data["Counts"]["Ordered"] == 2


def test_recipients_become_an_order_each(access):
    batch = ordered(letters(access), external_id="mail")

    orders = {order.external_id: order for order in Order.objects.all()}
    for row in batch.rows.all():
        order = orders[f"mail-{row.number}"]
        assert row.order == order
        assert order.recipient["Name"] == row.name
        assert order.items.get().template_data["Name"] == row.name
    assert len(orders) == 3


def end_access(world, ended):
    {
        "nothing": lambda: None,
        "association": Role.objects.filter(application=world.application, user=None).delete,
        "application": lambda: Application.objects.filter(pk=world.application.pk).update(is_enabled=False),
        "role": Role.objects.filter(user=world.user).delete,
        "user": lambda: User.objects.filter(pk=world.user.pk).update(is_active=False),
    }[ended]()


@pytest.mark.parametrize("ended", ["association", "application", "role", "user"])
def test_rest_of_a_batch_is_not_ordered_by_who_lost_access(access, world, ended):
    if ended in ("role", "user"):
        access = authorize_store(Caller.on_pages(world.user), "associated", WRITE)
    batch, actor = letters(access), actor_of(access)
    order_batch(batch=batch, actor=actor)
    end_access(world, ended)

    work_off(ORDER_TASK)

    batch = fresh(batch)
    assert (batch.status, batch.note) == ("Cancelled", NO_ACCESS)
    assert set(states_of(batch)) == {"Cancelled"}
    assert not Order.objects.exists()
    assert set(used()) <= {0}, "what was reserved is given back"


@pytest.mark.parametrize("ended", ["nothing", "role", "user", "association", "application"])
def test_batch_of_a_user_that_its_application_orders_needs_both(world, ended):
    caller = replace(Caller.of_application(world.application), user_id=world.user.pk)
    assert_only_ordered_while_nothing_ended(world, caller, ended)


@pytest.mark.parametrize("ended", ["nothing", "role", "user", "association", "application"])
def test_batch_of_the_pages_that_an_application_orders_needs_both(world, ended):
    actor = actor_of(access_to(world))
    assert_only_ordered_while_nothing_ended(world, Caller.on_pages(world.user), ended, actor)


@pytest.mark.parametrize("ended", ["nothing", "association", "application"])
def test_batch_of_another_application_needs_the_one_that_orders_it(world, ended):
    Role.objects.create(application=world.other_application, store=world.associated, grant="Order.Self.Write")
    other = Caller.of_application(world.other_application)
    assert_only_ordered_while_nothing_ended(world, other, ended, actor_of(access_to(world)))


def assert_only_ordered_while_nothing_ended(world, caller, ended, actor=OWNER):
    Role.objects.get_or_create(user=world.user, store=world.associated, grant="Order.Self.Write")
    batch = letters(authorize_store(caller, "associated", WRITE))
    order_batch(batch=batch, actor=actor)
    end_access(world, ended)

    work_off(ORDER_TASK)

    assert set(states_of(batch)) == {"Ordered" if ended == "nothing" else "Cancelled"}
    assert Order.objects.count() == (3 if ended == "nothing" else 0)


def test_order_needs_all_rows_in_order_or_those_that_are_ready(access):
    batch = checked(make_batch(access, [person(1), person(2, Mail="nowhere")]))

    with pytest.raises(Conflict) as refusal:
        order_batch(batch=batch, actor=OWNER)
    assert refusal.value.code == "batch_has_errors"
    batch = ordered(batch, only_ready=True)

    assert states_of(batch) == ["Ordered", "Error"]
    assert Order.objects.get().item_count == 1


@pytest.mark.parametrize("rows", [[], [person(1)]])
def test_batch_that_is_not_checked_is_not_ordered(access, rows):
    batch = make_batch(access, rows)

    with pytest.raises(Conflict) as refusal:
        order_batch(batch=batch, actor=OWNER)

    assert refusal.value.code == ("batch_not_checked" if rows else "batch_empty")


def test_checked_price_binds_for_48_hours(access):
    batch = letters(access, 1)
    DeliveredPrice.objects.update(price=Decimal("9.99"))
    Product.objects.update(version=F("version") + 1)

    ordered(batch)

    assert Order.objects.get().total == PRICE


def raise_quantities():
    Product.objects.update(minimum_quantity=5000, default_quantity=5000, maximum_quantity=9000)


@pytest.mark.parametrize("mode", ["Items", "Recipients"])
@pytest.mark.parametrize(
    "change",
    [
        raise_quantities,
        lambda: ProductionSpeed.objects.update(days=F("days") + 20),
        lambda: DeliveredPrice.objects.filter(delivery_method_code="GROUND").delete(),
    ],
)
def test_checked_quantity_speed_and_delivery_bind_as_the_price_does(access, mode, change):
    """All rows of an approved batch failed, and it could not be ordered again."""
    batch = checked(make_batch(access, [person(1) if mode == "Items" else addressed(1)], mode=mode))
    change()
    Product.objects.update(version=F("version") + 1)

    batch = ordered(batch)

    order = Order.objects.get()
    assert (order.delivery_method_code, order.production_days, order.total) == ("GROUND", 3, PRICE)
    assert states_of(batch) == ["Ordered"]


@pytest.mark.parametrize("mode", ["Items", "Recipients"])
def test_checked_quantity_is_ordered_when_the_default_of_the_product_changes(budgeted, mode):
    make_budget(budgeted.store, Limit=1000)
    row = person(1) if mode == "Items" else addressed(1)
    rows = [{**row, "Pieces": ""}, {**row, "Name": "Other", "Pieces": "250"}]
    batch = checked(make_batch(budgeted, rows, mode=mode, quantity=None))
    amounts = [(row.quantity, row.total) for row in batch.rows.order_by("number")]
    Product.objects.update(default_quantity=1000, version=F("version") + 1)

    batch = ordered(batch)

    items = OrderItem.objects.order_by("order__number", "position")
    assert [(item.quantity, item.line_total) for item in items] == amounts
    assert [quantity for quantity, _ in amounts] == [batch.product.minimum_quantity, 250]
    assert used() == [sum(total for _, total in amounts)]


def test_row_corrected_after_a_change_of_the_product_has_all_rows_checked_again(access):
    """Else one order would go by the delivery of its first row, at the prices that others have for another one."""
    batch = checked(make_batch(access, [person(1, Mail="nowhere"), person(2)]))
    Product.objects.update(delivery_method="OVERNIGHT", version=F("version") + 1)
    first = batch.rows.order_by("number")[0]

    correct_row(batch=fresh(batch), row_key=first.key, cells={"Mail": "a@print.example"})
    ordered(checked(batch))

    order = Order.objects.get()
    assert order.delivery_method_code == "OVERNIGHT"
    assert [item.unit_price for item in order.items.all()] == [Decimal("0.17")] * 2


def let_prices_expire(batch):
    Batch.objects.filter(pk=batch.pk).update(prices_expire=timezone.now())


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda batch: change_template(batch.product_id), "template of the product changed"),
        (let_prices_expire, "prices"),
    ],
)
def test_check_that_no_longer_holds_begins_again_and_is_ordered_without_an_upload(access, change, why):
    batch = letters(access, 2)
    change(batch)

    with pytest.raises(Conflict, match=why) as refusal:
        order_batch(batch=fresh(batch), actor=OWNER)
    began = fresh(batch)

    assert (refusal.value.code, refusal.value.members) == ("batch_outdated", {"Rows": 2})
    assert (began.status, states_of(began)) == ("Checking", ["Pending", "Pending"])
    assert why in began.note
    assert refusal.value.message == began.note
    with translation.override("de"):
        assert "Alle Zeilen werden noch einmal geprüft" in translated(began.note)
        assert why not in translated(began.note)
    batch_ordered = ordered(checked(batch))
    assert (batch_ordered.status, states_of(batch_ordered), batch_ordered.note) == (
        "Ordered",
        ["Ordered", "Ordered"],
        "",
    )


@pytest.mark.parametrize("mode", ["Items", "Recipients"])
def test_template_that_changes_before_the_first_order_has_all_rows_checked_again(budgeted, mode):
    make_budget(budgeted.store, Limit=1000)
    row = person(1) if mode == "Items" else addressed(1)
    batch = checked(make_batch(budgeted, [row, {**row, "Name": "Other"}], mode=mode))
    order_batch(batch=batch, actor=OWNER)
    change_template(batch.product_id)

    work_off(ORDER_TASK)

    assert (fresh(batch).status, used()) == ("Checking", [0])
    assert "Nothing is ordered" in fresh(batch).note
    batch_ordered = ordered(checked(batch))
    assert (states_of(batch_ordered), used()) == (["Ordered", "Ordered"], [2 * PRICE])


def test_batch_in_another_currency_than_its_check_is_checked_again_and_not_ordered(access):
    batch = checked(make_batch(access, [person(1)]))
    Store.objects.filter(pk=batch.store_id).update(currency="EUR")

    with pytest.raises(Conflict, match="The currency of the store changed since the check"):
        order_batch(batch=fresh(batch), actor=OWNER)

    assert fresh(batch).status == "Checking"


@pytest.mark.parametrize("mode", ["Items", "Recipients"])
def test_currency_that_changes_before_the_first_order_has_all_rows_checked_again(access, mode):
    """Orders had the numbers of the old prices in the new currency."""
    row = person(1) if mode == "Items" else addressed(1)
    batch = checked(make_batch(access, [row, {**row, "Name": "Other"}], mode=mode))
    order_batch(batch=batch, actor=OWNER)
    Store.objects.filter(pk=batch.store_id).update(currency="EUR")

    work_off(ORDER_TASK)

    assert (fresh(batch).status, Order.objects.count()) == ("Checking", 0)
    assert "The currency of the store changed since the check. Nothing is ordered." in fresh(batch).note
    with translation.override("de"):
        assert "Die Währung des Shops hat sich seit der Prüfung geändert." in translated(fresh(batch).note)
    ordered(checked(batch))
    assert set(Order.objects.values_list("currency", flat=True)) == {"EUR"}


def test_application_alone_orders_for_a_user_as_long_as_it_is_authorized(access, world):
    batch = checked(make_batch(access, [person(1)]))
    Batch.objects.update(user=world.user, application=world.application, is_first_party=False)
    alone = Actor(ActorKind.APPLICATION, application_id=world.application.pk)
    issue_access_token(
        user=world.user,
        application=world.application,
        scopes=["Order.Self.Write"],
        lifetime=timedelta(hours=1),
    )
    revoke_tokens(user=world.user, application=world.application)

    with pytest.raises(Forbidden, match="no longer authorizes"):
        order_batch(batch=fresh(batch), actor=alone)

    assert fresh(batch).status == "Checked"
    issue_access_token(
        user=world.user,
        application=world.application,
        scopes=["Order.Self.Write"],
        lifetime=timedelta(hours=1),
    )
    assert order_batch(batch=fresh(batch), actor=alone).status == "Ordering"


def deliver_overnight(batch):
    Product.objects.filter(pk=batch.product_id).update(delivery_method="OVERNIGHT", version=F("version") + 1)


def deliveries():
    items = OrderItem.objects.values_list("order__delivery_method_code", "unit_price")
    return set(items)


@pytest.mark.parametrize("corrected", ["a", "b"])
def test_row_corrected_after_a_change_of_the_delivery_has_the_others_checked_again(access, corrected):
    rows = [person(1, Key="a"), person(2, Key="b")]
    rows["ab".index(corrected)]["Name"] = ""
    batch = checked(make_batch(access, rows))
    deliver_overnight(batch)
    correct_row(batch=fresh(batch), row_key=corrected, cells={"Name": "Late"})

    with pytest.raises(Conflict, match="not checked yet"):
        order_batch(batch=fresh(batch), actor=OWNER)

    ordered(checked(batch))
    assert deliveries() == {("OVERNIGHT", Decimal("0.17"))}


def test_change_of_the_delivery_alone_leaves_what_was_checked(access):
    batch = checked(make_batch(access, [person(1), person(2)]))
    deliver_overnight(batch)

    ordered(batch)

    assert deliveries() == {("GROUND", Decimal("0.12"))}


def test_template_that_changes_between_two_orders_fails_the_rest_and_says_why(access, monkeypatch):
    batch = letters(access, 2)
    order_batch(batch=batch, actor=OWNER)
    write = ordering._write_order

    def write_and_change(*given):
        is_written = write(*given)
        change_template(batch.product_id)
        return is_written

    monkeypatch.setattr(ordering, "_write_order", write_and_change)
    work_off(ORDER_TASK)

    rows = list(batch.rows.order_by("number"))
    assert [row.state for row in rows] == ["Ordered", "Failed"]
    assert fresh(batch).status == "Ordered"
    [problem] = rows[1].problems
    assert (problem["Code"], problem["Remedy"]) == ("batch_outdated", "Order this row in a new batch.")


@pytest.mark.parametrize("mode", ["Items", "Recipients"])
def test_template_that_changes_while_an_order_is_prepared_is_not_printed(access, monkeypatch, mode):
    rows = [addressed(1)] if mode == "Recipients" else [person(1)]
    batch = checked(make_batch(access, rows, mode=mode))
    order_batch(batch=batch, actor=OWNER)
    prepare = ordering.prepare_order

    def change_and_prepare(**given):
        change_template(batch.product_id)
        return prepare(**given)

    monkeypatch.setattr(ordering, "prepare_order", change_and_prepare)
    work_off(ORDER_TASK)

    assert not Order.objects.exists()
    assert states_of(batch) == ["Pending"], "it is checked again"
    assert not list(stored_names(default_storage, PRINT_FILES)), "what was rendered is gone"


def test_row_whose_picture_cannot_be_read_holds_up_no_other(access, world):
    pictures = [upload(world.as_application(), color) for color in ("teal", "navy", "olive")]
    rows = [addressed(number, Portrait=picture) for number, picture in enumerate(pictures, start=1)]
    mapping = {**{TARGETS[column]: column for column in ("Addressee", *ADDRESS)}, "Photo": "Portrait"}
    product_id = make_photo_card(access.store).external_id
    batch = make_batch(access, rows, mode="Recipients", product_id=product_id, mapping=mapping)
    order_batch(batch=checked(batch), actor=OWNER)
    stored = Path(default_storage.path(asset_file(UUID(pictures[0]), "png")))
    kept = stored.rename(stored.with_suffix(".kept"))
    stored.mkdir()

    with pytest.raises(Unavailable):
        write_orders(batch_id=batch.pk)
    assert states_of(batch) == ["Warning", "Ordered", "Ordered"]
    stored.rmdir()
    kept.rename(stored)
    write_orders(batch_id=batch.pk)
    assert states_of(batch) == ["Ordered"] * 3
    assert fresh(batch).status == "Ordered"


def test_row_that_fails_says_why_and_leaves_the_others(access):
    batch = letters(access, 3)
    ordered(letters(access, 1, product_id=batch.product.external_id), external_id="mail")

    batch = ordered(batch, external_id="mail")

    rows = list(batch.rows.order_by("number"))
    assert [row.state for row in rows] == ["Failed", "Ordered", "Ordered"]
    [problem] = rows[0].problems
    assert problem["Code"] == "external_id_exists"


def test_order_of_items_that_fails_leaves_the_batch_to_be_corrected(budgeted):
    make_budget(budgeted.store, Limit=1000)
    batch = checked(make_batch(budgeted, [person(1), person(2)]))
    Order.objects.all()
    ordered(checked(make_batch(budgeted, [person(3)], product_id=batch.product.external_id)), external_id="x")

    batch = ordered(batch, external_id="x")

    assert (batch.status, states_of(batch)) == ("Checked", ["Error", "Error"])
    assert "ExternalID" in batch.note
    assert used() == [PRICE], "what it reserved came back"
    ordered(checked_again(batch), external_id="y")
    assert used() == [3 * PRICE]


def checked_again(batch):
    start_check(batch=batch)
    return checked(batch)


def test_work_that_is_done_twice_writes_each_order_once(access):
    batch = letters(access, 2)
    order_batch(batch=batch, actor=OWNER)

    write_orders(batch_id=batch.pk)
    write_orders(batch_id=batch.pk)
    work_off(ORDER_TASK)

    assert Order.objects.count() == 2
    with pytest.raises(Conflict) as refusal:
        order_batch(batch=fresh(batch), actor=OWNER)
    assert refusal.value.code == "batch_ordered"


@pytest.mark.parametrize(("kind", "taken"), [("Amount", 3 * PRICE), ("Orders", 3), ("Quantity", 300)])
def test_budget_is_reserved_for_the_whole_and_turned_into_orders(budgeted, kind, taken):
    make_budget(budgeted.store, Type=kind, Limit=1000)
    batch = letters(budgeted)

    order_batch(batch=batch, actor=OWNER)
    assert used() == [taken]
    assert BudgetEntry.objects.get().kind == "Reservation"
    work_off(ORDER_TASK)

    assert used() == [taken]
    assert BudgetEntry.objects.filter(kind="Order").count() == 3
    assert check_balances() == 0
    order = Order.objects.first()
    cancel_order(order=order, actor=OWNER)
    assert used() == [taken - taken / 3]


def test_what_did_not_become_orders_is_given_back(budgeted):
    make_budget(budgeted.store, Limit=1000)
    batch = letters(budgeted)
    order_batch(batch=batch, actor=OWNER)
    BatchRow.objects.filter(batch=batch, number=2).update(state="Failed")

    work_off(ORDER_TASK)

    assert used() == [2 * PRICE]
    assert check_balances() == 0


def test_budget_that_is_used_up_has_nothing_left_for_the_next_batch(budgeted):
    make_budget(budgeted.store, Limit=2 * PRICE)
    first = letters(budgeted, count=2)
    (before,) = BatchPage(first, counts_of(first)).budgets()
    ordered(first)

    following = letters(budgeted, count=1, product_id=first.product.external_id)
    (after,) = BatchPage(following, counts_of(following)).budgets()

    assert (before["left"], before["is_over"]) == (f"{2 * PRICE} USD", False)
    assert (after["left"], after["is_over"]) == ("", True)


def test_batch_beyond_its_budget_is_refused_as_a_whole(budgeted):
    make_budget(budgeted.store, Limit=2 * PRICE)
    batch = letters(budgeted)
    assert budget_decision(batch, counts_of(batch)) == "Refused"

    with pytest.raises(Conflict) as refusal:
        order_batch(batch=batch, actor=OWNER)

    assert refusal.value.code == "budget_exceeded"
    assert fresh(batch).status == "Checked"
    assert not BudgetEntry.objects.exists()


def test_orders_of_a_reservation_are_written_when_others_used_the_rest_up(budgeted):
    budget = make_budget(budgeted.store, Limit=3 * PRICE)
    batch = letters(budgeted)
    order_batch(batch=batch, actor=OWNER)
    budget.limit = 1
    budget.save()

    work_off(ORDER_TASK)

    assert states_of(batch) == ["Ordered"] * 3


def test_cancelling_stops_what_is_not_ordered(budgeted, monkeypatch):
    make_budget(budgeted.store, Limit=1000)
    batch = letters(budgeted)
    order_batch(batch=batch, actor=OWNER)
    write, done = ordering._write_order, []

    def write_and_cancel(*given):
        is_written = write(*given)
        done.append(cancel_batch(batch=batch))
        return is_written

    monkeypatch.setattr(ordering, "_write_order", write_and_cancel)
    work_off(ORDER_TASK)

    assert states_of(batch) == ["Ordered", "Cancelled", "Cancelled"]
    assert fresh(batch).status == "Cancelled"
    assert used() == [PRICE]
    assert rows_by_name(batch)["Person 001"].order is not None


def test_batches_of_test_applications_make_test_orders_and_take_no_budget(budgeted, world):
    make_budget(budgeted.store, Limit=1)
    batch = letters(budgeted, 1)
    Batch.objects.filter(pk=batch.pk).update(is_test=True)

    ordered(fresh(batch))

    assert Order.objects.get().is_test
    assert not BudgetEntry.objects.exists()


def test_slip_ticket_and_stamp_carry_the_name_and_key_of_the_row(access):
    batch = ordered(checked(make_batch(access, [person(1, Key="k-1")])))
    order = batch.rows.get().order
    item = order.items.get()

    slip = written_text(render_packing_slip(order=order, caller=access.caller))
    job = build_item_job(order, item, number="1-1", created=order.created, siblings=["1-1"])

    assert "Person001(k-1)" in slip.replace("\N{ZERO WIDTH SPACE}", "").replace(" ", "")
    assert job.item.label == "Person 001 (k-1)"
    assert b"Person 001 (k-1)" in write_json_ticket(job)
    assert b"Person 001 (k-1)" in write_xjdf(job)
    assert Stamp("1-1", 100, None, job.item.label).words().endswith("Person 001 (k-1)")
