"""The tables of the present code and the demo, in a database that a test has to itself."""

from collections.abc import Callable

import psycopg
from django.db.migrations.loader import MigrationLoader

from fulfillment.local.schema import load_schema

Manage = Callable[..., object]
WITHOUT_ORDERS = """
from unittest import mock
from django.core.management import call_command
with mock.patch("stores.demo.load_activity"):
    call_command("load_demo", verbosity=0)
"""


def load_tables(database_url: str, manage: Manage) -> None:
    """Migrates only where there are migrations that the dump does not have: to find none takes 3 seconds."""
    assert load_schema(database_url)
    with psycopg.connect(database_url) as opened:
        applied = opened.execute("SELECT app, name FROM django_migrations").fetchall()
    if MigrationLoader(None).disk_migrations.keys() - set(applied):
        manage("migrate", "--verbosity=0")


def load_demo_catalog(manage: Manage) -> None:
    """People, application and stores; the demo's orders with their print files take most of the time."""
    manage("shell", "--verbosity=0", "-c", WITHOUT_ORDERS)
