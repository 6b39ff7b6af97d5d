"""Creates any number of sample orders for benchmarks, by COPY instead of the services."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import orjson
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from accounts.models import Role
from fulfillment.core.errors import Conflict
from fulfillment.core.uuid7 import new_uuid7
from stores.catalog.models import Product, Store
from stores.orders.models import ActorKind, Order, OrderHistory, OrderItem, OrderStatus
from stores.orders.representations import render_export_row
from stores.orders.services.changes import lock_orders

SPAN = timedelta(days=730)
BATCH = 20_000
SHAPES = 200
# The weights of statuses for recent and for older orders.
RECENT = {
    OrderStatus.RECEIVED: 30,
    OrderStatus.ON_HOLD: 4,
    OrderStatus.ACCEPTED: 24,
    OrderStatus.IN_PRODUCTION: 30,
    OrderStatus.PARTIALLY_SHIPPED: 4,
    OrderStatus.SHIPPED: 8,
}
OLDER = {
    OrderStatus.DELIVERED: 880,
    OrderStatus.SHIPPED: 40,
    OrderStatus.CANCELLED: 45,
    OrderStatus.RETURNED: 20,
    OrderStatus.REJECTED: 10,
    OrderStatus.ON_HOLD: 5,
}
STATUS_PATHS: dict[int, tuple[int, ...]] = {
    OrderStatus.RECEIVED: (10,),
    OrderStatus.ON_HOLD: (10, 20),
    OrderStatus.ACCEPTED: (10, 30),
    OrderStatus.IN_PRODUCTION: (10, 30, 40),
    OrderStatus.PARTIALLY_SHIPPED: (10, 30, 40, 50),
    OrderStatus.SHIPPED: (10, 30, 40, 60),
    OrderStatus.DELIVERED: (10, 30, 40, 60, 70),
    OrderStatus.RETURNED: (10, 30, 40, 60, 70, 80),
    OrderStatus.CANCELLED: (10, 90),
    OrderStatus.REJECTED: (10, 95),
}
PLACES = (
    ("Denver", "CO", "80202"),
    ("Portland", "OR", "97205"),
    ("Austin", "TX", "78701"),
    ("Columbus", "OH", "43215"),
    ("Raleigh", "NC", "27601"),
    ("Boise", "ID", "83702"),
)
FIRST_NAMES = ("Dana", "Luis", "Priya", "Hannah", "Omar", "Grace", "Tomás", "Wei", "Ingrid", "Jamal")
LAST_NAMES = ("Whitfield", "Ortega", "Rao", "Becker", "Haddad", "Kim", "O'Neill", "Novak", "Sato", "Reed")
# The triggers that write them do not run where foreign keys are not checked.
WORDS = """
INSERT INTO stores_ordersearch (order_id, words)
SELECT one.id, fulfillment_order_words(one) FROM stores_order one WHERE number BETWEEN %s AND %s
ON CONFLICT (order_id) DO NOTHING
"""
RECOUNT_TALLIES = """
INSERT INTO stores_ordertally (store_id, application_id, status, orders)
SELECT store_id, application_id, status, count(*) FROM stores_order
WHERE NOT is_test GROUP BY store_id, application_id, status
"""
# Only recent days, in UTC: no page shows older ones.
RECOUNTED_DAYS = """
INSERT INTO stores_orderday (store_id, day, placed, shipped, amount)
SELECT store_id, day, sum(placed), sum(shipped), sum(amount) FROM (
    SELECT o.store_id, (o.created AT TIME ZONE 'UTC')::date AS day, 1 AS placed, 0 AS shipped, o.total AS amount
    FROM stores_order o WHERE NOT o.is_test AND o.created > now() - interval '35 days'
    UNION ALL
    SELECT o.store_id, (h.timestamp AT TIME ZONE 'UTC')::date, 0, 1, 0
    FROM stores_order o JOIN stores_orderhistory h ON h.order_id = o.id
    WHERE NOT o.is_test AND o.updated > now() - interval '35 days' AND h.timestamp > now() - interval '35 days'
        AND h.status = %s AND h.previous_status <> h.status
) counted GROUP BY store_id, day
"""
ORDER_COLUMNS = tuple(field.attname for field in Order._meta.concrete_fields)
ITEM_COLUMNS = tuple(f.attname for f in OrderItem._meta.concrete_fields if f.attname != "id")
HISTORY_COLUMNS = tuple(f.attname for f in OrderHistory._meta.concrete_fields if f.attname != "id")


@dataclass(frozen=True, slots=True)
class _Shape:
    """The items of an order; many orders share one shape."""

    items: tuple[dict[str, Any], ...]
    total: Decimal
    quantity: int
    product_ids: list[str]


@dataclass(slots=True)
class _StorePlan:
    store: Store
    application_ids: Sequence[UUID | None]
    shapes: Sequence[_Shape]
    pattern: Order
    created: datetime
    step: timedelta


@transaction.atomic
def create_sample_orders(
    *,
    count: int,
    stores: Sequence[Store],
    with_history: bool = True,
) -> None:
    """Writes `count` orders, divided among the stores and spread over two years; raises Conflict without products."""
    chance = random.Random(1)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
    _without_foreign_key_checks()
    lock_orders(store_pks=[store.pk for store in stores])
    shares = [count // len(stores) + (index < count % len(stores)) for index in range(len(stores))]
    for store, share in zip(stores, shares, strict=True):
        plan = _store_plan(store, share, chance)
        for start in range(0, share, BATCH):
            size = min(BATCH, share - start)
            _copy_batch(list(_orders(plan, _numbers(size), share - start, chance)), with_history)
    count_all_orders()


def _copy_batch(batch: list[tuple[Order, _Shape]], with_history: bool) -> None:
    _copy("stores_order", ORDER_COLUMNS, (_row(order, ORDER_COLUMNS) for order, _ in batch))
    _copy("stores_orderitem", ITEM_COLUMNS, (row for entry in batch for row in _item_rows(*entry)))
    with connection.cursor() as cursor:
        cursor.execute(WORDS, [batch[0][0].number, batch[-1][0].number])
    if with_history:
        _copy(
            "stores_orderhistory",
            HISTORY_COLUMNS,
            (row for order, _ in batch for row in _history_rows(order)),
        )


def _store_plan(store: Store, share: int, chance: random.Random) -> _StorePlan:
    products = list(
        Product.objects.filter(store=store, is_active=True)
        .prefetch_related("delivered_prices")
        .defer("template")
    )
    if not products:
        raise Conflict(f"The store {store.external_id} has no products to order.", code="store_empty")
    live = Order.objects.filter(store=store, is_test=False)
    last = live.order_by("-created").values_list("created", flat=True).first()
    now = timezone.now()
    begin = max(last, now - SPAN) if last else now - SPAN
    applications: list[UUID | None] = list(
        Role.objects.filter(store=store, application__isnull=False, user__isnull=True)
        .values_list("application", flat=True)
        .distinct()
    )
    return _StorePlan(
        store=store,
        application_ids=applications or [None],
        shapes=[_shape(products, chance) for _ in range(SHAPES)],
        pattern=Order(
            store_id=store.pk,
            currency=store.currency,
            delivery_total=Decimal("0.00"),
            delivery_method_code="GROUND",
            production_days=3,
        ),
        created=begin,
        step=(now - begin) / (share + 1),
    )


def _item(position: int, product: Product, quantity: int, unit: Decimal) -> dict[str, Any]:
    return {
        "position": position,
        "item_key": str(position + 1),
        "product_id": product.pk,
        "product_external_id": product.external_id,
        "product_name": product.name,
        "product_version": product.version,
        "quantity": quantity,
        "unit_price": unit,
        "line_total": unit * quantity,
        "template_data": None,
        "artwork": None,
        "print_file": "",
        "print_sha256": "",
        "print_bytes": 0,
        "print_preset": None,
        "options": None,
        "finishing": None,
        "preflight": None,
        "eddm": None,
        "label": "",
    }


def _shape(products: Sequence[Product], chance: random.Random) -> _Shape:
    items: list[dict[str, Any]] = []
    for position in range(chance.choices((1, 2, 3), (70, 25, 5))[0]):
        product = chance.choice(products)
        steps = (product.maximum_quantity - product.minimum_quantity) // product.quantity_increment
        quantity = product.minimum_quantity + product.quantity_increment * chance.randint(0, min(steps, 8))
        prices = list(product.delivered_prices.all())
        unit = prices[0].price if prices else Decimal("1.00")
        items.append(_item(position, product, quantity, unit))
    return _Shape(
        tuple(items),
        sum((item["line_total"] for item in items), Decimal("0.00")),
        sum(item["quantity"] for item in items),
        list(dict.fromkeys(item["product_external_id"] for item in items)),
    )


def _orders(
    plan: _StorePlan, numbers: Sequence[int], left: int, chance: random.Random
) -> Iterator[tuple[Order, _Shape]]:
    for index, number in enumerate(numbers):
        plan.created += max(plan.step, timedelta(microseconds=1))
        statuses = RECENT if plan.step * (left - index) < timedelta(days=10) else OLDER
        status = chance.choices(tuple(statuses), tuple(statuses.values()))[0]
        shape = chance.choice(plan.shapes)
        order = _order(plan, shape, status, number, chance)
        order.rendering = render_export_row(order, plan.store.external_id)
        yield order, shape


def _recipient(place: tuple[str, str, str], chance: random.Random) -> dict[str, str]:
    city, state, postal_code = place
    return {
        "Name": f"{chance.choice(FIRST_NAMES)} {chance.choice(LAST_NAMES)}",
        "Company": "",
        "Address1": f"{chance.randint(1, 9999)} Main Street",
        "Address2": "",
        "City": city,
        "State": state,
        "PostalCode": postal_code,
        "CountryCode": "US",
        "Phone": "",
        "Email": "",
    }


def _order(plan: _StorePlan, shape: _Shape, status: int, number: int, chance: random.Random) -> Order:
    place = chance.choice(PLACES)
    path, created = STATUS_PATHS[status], plan.created
    shipped = 50 in path or 60 in path
    return _order_like(
        plan.pattern,
        id=new_uuid7(created),
        number=number,
        # As most integrators do.
        external_id=f"PO-{number}",
        application_id=chance.choice(plan.application_ids),
        status=status,
        sequence=len(path),
        created=created,
        updated=created + timedelta(hours=20) * (len(path) - 1),
        items_total=shape.total,
        total=shape.total,
        earliest_delivery=(created + timedelta(days=8)).date(),
        latest_delivery=(created + timedelta(days=10)).date(),
        recipient=_recipient(place, chance),
        product_ids=shape.product_ids,
        item_count=len(shape.items),
        total_quantity=shape.quantity,
        tracking_numbers=[f"1Z{number:012d}"] if shipped else [],
        cancellable_until=created + timedelta(minutes=60),
    )


def _order_like(pattern: Order, **values: Any) -> Order:
    """Faster than the model's constructor, which processes every field."""
    order = Order.__new__(Order)
    order.__dict__.update(pattern.__dict__, **values)
    return order


def _row(order: Order, columns: Sequence[str]) -> list[Any]:
    values = [getattr(order, name) for name in columns]
    return [orjson.dumps(value).decode() if isinstance(value, dict) else value for value in values]


def _item_rows(order: Order, shape: _Shape) -> Iterator[list[Any]]:
    for item in shape.items:
        own = {**item, "order_id": order.pk}
        yield [own[name] for name in ITEM_COLUMNS]


def _history_rows(order: Order) -> Iterator[list[Any]]:
    previous = None
    for index, status in enumerate(STATUS_PATHS[order.status]):
        entry = {
            "order_id": order.pk,
            "sequence": index + 1,
            "previous_status": previous,
            "status": status,
            "timestamp": order.created + timedelta(hours=20) * index,
            "actor_kind": ActorKind.STORE.value if index else ActorKind.APPLICATION.value,
            "actor_id": None,
            "note": "",
        }
        yield [entry[name] for name in HISTORY_COLUMNS]
        previous = status


def _copy(table: str, columns: Sequence[str], rows: Iterator[list[Any]]) -> None:
    with (
        connection.cursor() as cursor,
        cursor.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN") as copy,
    ):
        for row in rows:
            copy.write_row(row)


def _numbers(count: int) -> list[int]:
    """Reserves the numbers one by one, because other transactions may reserve numbers at the same time."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval('stores_order_number') FROM generate_series(1, %s)", [count])
        return [number for (number,) in cursor.fetchall()]


def _without_foreign_key_checks() -> None:
    """The foreign keys are valid by construction, and checking takes half of the time; needs a superuser."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL session_replication_role = replica")
    except DatabaseError:
        return


def count_all_orders() -> None:
    """Counts again after orders were written without the services."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM stores_ordertally")
        cursor.execute(RECOUNT_TALLIES)
        cursor.execute("DELETE FROM stores_orderday")
        cursor.execute(RECOUNTED_DAYS, [int(OrderStatus.SHIPPED)])
