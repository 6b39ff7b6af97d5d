"""Copies of a store with everything below it, in a few statements: a thousand of them take minutes, not days."""

from typing import Any

CHILDREN = ("stores_templatefield", "stores_deliveredprice", "stores_productionspeed")
# Where a copy differs from the first store; all other columns are the same.
STORES = {
    "external_id": "s.external_id || '-' || g",
    "rendering": """replace(s.rendering, '"' || s.external_id || '"', '"' || s.external_id || '-' || g || '"')""",
}
ORDERS = {
    "id": "uuidv7()",
    "number": "nextval('stores_order_number')",
    "store_id": "copy.id",
    "rendering": """replace(o.rendering, '"' || s.external_id || '"', '"' || copy.external_id || '"')""",
}
ITEMS = {"order_id": "new.id", "product_id": "p.id"}
TOKEN = """
INSERT INTO oauth2_provider_accesstoken
    (token, expires, scope, application_id, created, updated, token_checksum, resource)
SELECT '', now() + interval '30 days', 'Store.Self.Read', %s, now(), now(),
       encode(sha256(convert_to(%s || g, 'UTF8')), 'hex'), '[]'
FROM generate_series(1, %s) g
"""


def copy_stores(external_id: str, *, count: int) -> None:
    """`count` stores with the products and orders of this one."""
    from django.db import connection, transaction

    from tests.support.sample_orders import count_all_orders

    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        cursor.execute("SET LOCAL synchronous_commit = off")
        # The audit trail of rows that no user wrote, and checks of keys that are right by construction.
        cursor.execute("SET LOCAL session_replication_role = replica")
        _copy(cursor, "stores_store", STORES, f"generate_series(1, {count}) g, stores_store s", external_id)
        copies = "stores_store s JOIN stores_store copy ON copy.external_id LIKE s.external_id || '-%%'"
        _copy(
            cursor,
            "stores_product",
            {"store_id": "copy.id"},
            f"{copies} JOIN stores_product o ON o.store_id = s.id",
            external_id,
            "o",
        )
        products = (
            f"{copies} JOIN stores_product old ON old.store_id = s.id "
            "JOIN stores_product new ON new.store_id = copy.id AND new.external_id = old.external_id"
        )
        for table in CHILDREN:
            source = f"{products} JOIN {table} o ON o.product_id = old.id"
            _copy(cursor, table, {"product_id": "new.id"}, source, external_id, "o")
        _copy(
            cursor,
            "stores_order",
            ORDERS,
            f"{copies} JOIN stores_order o ON o.store_id = s.id",
            external_id,
            "o",
        )
        orders = (
            f"{copies} JOIN stores_order old ON old.store_id = s.id "
            "JOIN stores_order new ON new.store_id = copy.id AND new.position = old.position "
            "JOIN stores_orderitem o ON o.order_id = old.id "
            "JOIN stores_product p ON p.store_id = copy.id AND p.external_id = o.product_external_id"
        )
        _copy(cursor, "stores_orderitem", ITEMS, orders, external_id, "o")
        count_all_orders()
    _settle()


def make_tokens(application: Any, *, count: int) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        cursor.execute(TOKEN, [application.pk, str(application.pk), count])
    _settle()


def _settle() -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        cursor.execute("VACUUM ANALYZE")
        cursor.execute("CHECKPOINT")


def _copy(
    cursor: Any, table: str, changed: dict[str, str], source: str, external_id: str, alias: str = "s"
) -> None:
    """`source` joins the rows of the first store, as `alias`, with what each copy takes in their place."""
    cursor.execute(
        "SELECT column_name FROM information_schema.columns WHERE table_name = %s AND is_identity = 'NO'",
        [table],
    )
    columns = [row[0] for row in cursor.fetchall()]
    values = [changed.get(name, f"{alias}.{name}") for name in columns]
    cursor.execute(
        f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(values)} FROM {source} "
        "WHERE s.external_id = %s",
        [external_id],
    )
