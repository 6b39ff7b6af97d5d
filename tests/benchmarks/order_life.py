"""What an order costs the database from its request to its delivery: `python -m tests.benchmarks.order_life`.

Processor time of the server process of one connection, which other work on the machine hardly changes, and bytes of
the log of changes (without full pages, which the test server does not write).
"""

import os
import sys

import django
from django.test.utils import setup_test_environment

ORDERS = 300
STEPS = (30, 40, 60, 70)
SIZES = """
SELECT relname = 'applications_event', sum(pg_total_relation_size(oid))::float8 / %s / 1000 FROM pg_class
WHERE relname ~ '^applications_event$|^stores_(order|shipment)|^production_job' AND relkind = 'r' GROUP BY 1 ORDER BY 1
"""


def measure() -> str:
    from django.db import connection

    from stores.orders.models import ActorKind, Order
    from stores.orders.services.changes import Actor
    from stores.orders.services.transitions import Parcel, transition_order
    from tests.factories.orders import make_product, order_body
    from tests.support.scenario import build_world
    from tests.support.servers.processes import processor_seconds

    def state() -> tuple[float, int]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid(), pg_current_wal_insert_lsn() - '0/0'")
            pid, log = cursor.fetchone()
        return processor_seconds(pid), int(log)

    def costs(name: str, before: tuple[float, int], count: int) -> str:
        seconds, log = (now - then for now, then in zip(state(), before, strict=True))
        return f"| {name} | {seconds / count * 1000:.2f} ms | {log / count / 1000:.1f} KB |\n"

    world = build_world()
    product = make_product(world.associated)
    body = order_body(Items=[{"ProductID": product.external_id, "Quantity": product.minimum_quantity}])
    client = world.as_application()
    before = state()
    for _ in range(ORDERS):
        placed = client.call("POST", "/store/associated/order", body)
        assert placed.status_code == 201, placed.content
    text = costs("POST order", before, ORDERS)
    actor, before = Actor(ActorKind.STORE), state()
    for order in Order.objects.all():
        for status in STEPS:
            parcels = [Parcel("UPS", f"1Z{order.number}")] if status == 60 else []
            transition_order(order=order, status=status, actor=actor, parcels=parcels)
    text += costs("each of its four changes", before, ORDERS * len(STEPS))
    with connection.cursor() as cursor:
        cursor.execute("VACUUM FULL")
        cursor.execute(SIZES, [ORDERS])
        (_, kept), (_, events) = cursor.fetchall()
    return f"{text}In the end {kept:.1f} KB for an order, and {events:.1f} KB for its events\n"


if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    django.setup()
    setup_test_environment()
    from tests.support.database.databases import own_database

    with own_database(keep=False):
        figures = measure()
    sys.stdout.write(f"{figures}Load {os.getloadavg()[0]:.1f}\n")
