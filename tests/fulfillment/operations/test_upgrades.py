"""The present code takes over the database of each earlier release, and serves what it holds."""

import json
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psycopg
import pytest
import requests

from stores.orders.models import OrderStatus
from tests.factories.orders import RECIPIENT
from tests.support.database.address import address_of
from tests.support.database.tables import load_tables
from tests.support.patience import PATIENCE
from tests.support.servers.live_server import serving
from tests.tools.release_dump import (
    FOLDER,
    SECRETS,
    dump_of,
    empty_database,
    environment_of,
    manage,
    restore,
    schema_of,
)

RELEASES = sorted(FOLDER.glob("*.sql.xz"))
DATABASE = "upgraded_release"
MADE_BY_MIGRATIONS = {
    "django_migrations": "app, name",
    "django_content_type": "app_label, model",
    "auth_permission": "name, codename",
}
GONE = ("idempotentanswer", "secretgeneration")
STORE, PRODUCT = "summit-print", "business-card-silk"
ITEM = {"ProductID": PRODUCT, "Quantity": 500}

pytestmark = pytest.mark.django_db


@pytest.fixture(params=RELEASES, ids=lambda path: path.name.removesuffix(".sql.xz"))
def upgraded(request, tmp_path) -> Iterator[dict[str, str]]:
    """The environment of a release's database after `prepare` of the present code."""
    with empty_database(f"{DATABASE}_{os.getpid()}") as name:
        restore(request.param, name)
        before = rows_of_orders(name)
        environment = environment_of(name, tmp_path / "media")
        manage(environment, "prepare")
        assert before
        assert rows_of_orders(name) == before
        yield environment | {"name": name}


def rows_of_orders(name: str) -> list[tuple[str, str, int]]:
    """Store, ID and status of each order, as the database has them."""
    with psycopg.connect(address_of(name)) as opened:
        return opened.execute(
            "SELECT store.external_id, made.id::text, made.status FROM stores_order made"
            " JOIN stores_store store ON store.id = made.store_id ORDER BY made.number"
        ).fetchall()


def test_first_release_is_among_them():
    assert "0.1.0.sql.xz" in [path.name for path in RELEASES]


def rows_of_migrations(name: str) -> dict[str, set[tuple[str, ...]]]:
    with psycopg.connect(address_of(name)) as opened:
        return {
            table: set(opened.execute(f"SELECT {columns} FROM {table}").fetchall())
            for table, columns in MADE_BY_MIGRATIONS.items()
        }


def assert_is_as_a_new_one(upgraded: dict[str, str], tmp_path: Path) -> None:
    """Has the schema that `make run` loads: what its own release had and all later migrations make of that."""
    with (
        empty_database(f"restored_{os.getpid()}") as restored,
        empty_database(f"loaded_{os.getpid()}") as loaded,
    ):
        # PostgreSQL writes some expressions differently once they were restored from a dump.
        with psycopg.connect(address_of(restored), autocommit=True) as opened:
            opened.execute(dump_of(upgraded["name"]))
        load_tables(address_of(loaded), partial(manage, environment_of(loaded, tmp_path)))

        assert schema_of(restored) == schema_of(loaded)
        # Django keeps those of models that an earlier release had.
        for table, rows in rows_of_migrations(restored).items():
            assert rows_of_migrations(loaded)[table] == {
                row for row in rows if not any(name in row[1] for name in GONE)
            }


@pytest.mark.slow
def test_data_of_an_earlier_release_is_read_and_written(upgraded, tmp_path):
    assert_is_as_a_new_one(upgraded, tmp_path)
    user = json.loads(manage(upgraded, "demo", "--json"))["user"]
    caller = requests.Session()
    caller.headers["Authorization"] = f"Bearer {user['access_token']}"
    caller.headers["Ocp-Apim-Subscription-Key"] = user["subscription_key"]
    known = rows_of_orders(upgraded["name"])
    old = next(order for store, order, status in known if (store, status) == (STORE, OrderStatus.DELIVERED))

    with serving(tmp_path, database=upgraded["DATABASE_URL"], **SECRETS) as served:
        store = f"{served.url}/api/v1/store/{STORE}"
        assert read(caller, f"{store}/product/{PRODUCT}")["ID"] == PRODUCT
        assert read(caller, f"{store}/order/{old}")["Items"]
        response = caller.post(
            f"{store}/order", json={"Recipient": RECIPIENT, "Items": [ITEM]}, timeout=PATIENCE
        )
        assert response.status_code == 201, response.text
        changed = caller.post(
            f"{store}/order/{old}/status", json={"Status": OrderStatus.RETURNED}, timeout=PATIENCE
        )
        assert changed.status_code == 200, changed.text

    assert len(rows_of_orders(upgraded["name"])) == len(known) + 1


def read(caller: requests.Session, address: str):
    response = caller.get(address, timeout=PATIENCE)
    assert response.status_code == 200, response.text
    return response.json()
