"""Batches of business cards, made, checked and ordered as the interfaces do it."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from django.db.models import F

from accounts.callers import Caller
from stores.batches.files.records import FileRow
from stores.batches.models import Batch, BatchRow
from stores.batches.selectors.batches import shown_batches
from stores.batches.services.batches import create_batch
from stores.batches.services.ordering import ORDER_TASK, order_batch
from stores.batches.services.rows import CHECK_TASK, Match, RowSource, replace_rows
from stores.budgets.models import BudgetPeriod
from stores.catalog.models import Product, TemplateField
from stores.orders.models import ActorKind
from stores.orders.selectors.access import WRITE, StoreAccess, authorize_store
from stores.orders.services.changes import Actor
from tests.factories.orders import RECIPIENT, make_card
from tests.support.orders.approvals import add_approver
from tests.support.orders.shop import Shop
from tests.support.scenario import World
from tests.support.servers.queued_jobs import work_off

TARGETS = {
    "Name": "Name",
    "Job": "Title",
    "Mail": "Email",
    "Key": "RowKey",
    "Pieces": "Quantity",
    "Street": "Recipient.Address1",
    "Town": "Recipient.City",
    "Zip": "Recipient.PostalCode",
    "Land": "Recipient.CountryCode",
    "Addressee": "Recipient.Name",
}
ADDRESS = {"Street": "1200 17th Street", "Town": "Denver", "Zip": "80202", "Land": "US"}


def person(number: int, **cells: str) -> dict[str, str]:
    return {
        "Name": f"Person {number:03}",
        "Job": "Engineer",
        "Mail": f"person{number}@print.example",
        **cells,
    }


def addressed(number: int, **cells: str) -> dict[str, str]:
    return {**person(number), "Addressee": f"Person {number:03}", **ADDRESS, **cells}


def source_of(rows: Sequence[Mapping[str, str]]) -> RowSource:
    columns = list(dict.fromkeys(column for row in rows for column in row))
    matches = [Match(TARGETS[column], column, 1.0) for column in columns if column in TARGETS]
    return RowSource(columns, [FileRow(number, row) for number, row in enumerate(rows, start=2)], matches)


def access_to(world: World, store: str = "associated") -> StoreAccess:
    return authorize_store(Caller.of_application(world.application), store, WRITE)


def make_batch(access: StoreAccess, rows: Sequence[Mapping[str, str]] = (), **changes: Any) -> Batch:
    """Of a card, which is made first."""
    product = make_card(access.store) if "product_id" not in changes else None
    product_id = changes.pop("product_id", product and product.external_id)
    values: dict[str, Any] = {
        "mode": "Items",
        "quantity": 100,
        "recipient": RECIPIENT if changes.get("mode", "Items") == "Items" else {},
    }
    name = changes.pop("mapping_name", "")
    values |= changes
    batch = create_batch(access=access, product_id=product_id, values=values, mapping_name=name)
    if rows:
        replace_rows(batch=fresh(batch), source=source_of(rows))
    return fresh(batch)


def fresh(batch: Batch) -> Batch:
    return shown_batches().get(pk=batch.pk)


def checked(batch: Batch) -> Batch:
    work_off(CHECK_TASK)
    return fresh(batch)


def letters(access: StoreAccess, count: int = 3, **changes: Any) -> Batch:
    """Checked, each to another recipient."""
    rows = [addressed(number) for number in range(1, count + 1)]
    return checked(make_batch(access, rows, mode="Recipients", **changes))


def ordered(batch: Batch, **options: Any) -> Batch:
    order_batch(batch=fresh(batch), actor=Actor(ActorKind.APPLICATION), **options)
    work_off(ORDER_TASK)
    return fresh(batch)


def approver(world: World) -> Actor:
    return Actor(ActorKind.USER, add_approver(Shop(world)).pk)


def used() -> list[Decimal]:
    return [period.used for period in BudgetPeriod.objects.all()]


def change_template(product_pk: int) -> None:
    """So that other things are to be checked, and can be printed."""
    TemplateField.objects.filter(product=product_pk).update(prompt=F("field_name"))
    Product.objects.filter(pk=product_pk).update(version=F("version") + 1)


def rows_by_name(batch: Batch) -> dict[str, BatchRow]:
    return {row.name: row for row in batch.rows.order_by("number")}


def states_of(batch: Batch) -> list[str]:
    return list(batch.rows.order_by("number").values_list("state", flat=True))
