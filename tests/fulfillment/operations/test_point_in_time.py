"""A store is deleted, and comes back alone from a copy of the moment before, beside the running service.

The archive is made with the files of docs/deploy/backup. `RESTORE_ORDERS=1000000` adds that many orders to the store.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection

from fulfillment.core.db.locks import exclusive_job
from fulfillment.operations.backups.record_graph import Graph, Root, ordered_models
from fulfillment.operations.backups.records import restore_records
from stores.catalog.models import Store
from stores.orders.models import Order, OrderItem
from stores.orders.models.comments import OrderComment
from tests.factories.orders import card_data, make_card, order_body
from tests.support.cluster.backups import PROGRAMS, SHIPPED, ArchivedCluster, archived_cluster
from tests.support.cluster.programs import PASSWORD, require_packages
from tests.support.orders.sample_orders import create_sample_orders
from tests.support.patience import wait_for
from tests.support.scenario import World, build_world
from tests.support.servers.postgres_server import ROOT

pytestmark = pytest.mark.slow

ORDERS = int(os.environ.get("RESTORE_ORDERS", "0"))
NAMES = ("stores.Store", "external_id=associated")


@dataclass
class Scene:
    """`moment` is the last second in which the store was there, `before` what it had then."""

    cluster: ArchivedCluster
    moment: str
    before: dict[str, list[tuple]]
    backup: Path
    said: str


def build_service() -> World:
    world = build_world()
    make_card(world.associated)
    item = {"ProductID": "card-two-sided", "Quantity": 100, "TemplateData": card_data()}
    for _ in range(2):
        placed = world.as_application().call("POST", "/store/associated/order", order_body(Items=[item]))
        assert placed.status_code == 201, placed.content
    first = Order.objects.earliest("created")
    Order.objects.exclude(pk=first.pk).update(reprint_of=first)
    return world


@contextmanager
def connected_to(cluster: ArchivedCluster) -> Iterator[None]:
    """Django's connection leads to the cluster."""
    usual = dict(connection.settings_dict)
    connection.close()
    connection.settings_dict.update(
        HOST="127.0.0.1", PORT=str(cluster.port), NAME="fulfillment", USER="fulfillment", PASSWORD=PASSWORD
    )
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict.update(usual)


def selected(cluster: ArchivedCluster) -> tuple[psycopg.Connection, Graph]:
    """The store's rows, as a superuser, who may delete what the audit trail protects."""
    opened = psycopg.connect(
        f"host={cluster.folder} port={cluster.port} user=postgres dbname=fulfillment", autocommit=True
    )
    graph = Graph(opened, [Root(Store, "external_id", "associated")])
    graph.select()
    return opened, graph


def rows_of_store(cluster: ArchivedCluster) -> dict[str, list[tuple]]:
    """By table: how many rows, and a digest of all of them."""
    opened, graph = selected(cluster)
    with opened:
        return {
            model._meta.db_table: opened.execute(
                "SELECT count(*), md5(string_agg(md5(r::text), '' ORDER BY r::text COLLATE \"C\"))"
                f" FROM {model._meta.db_table} r WHERE ctid IN (SELECT place FROM {selection.rows.as_string()})"
            ).fetchall()
            for model, selection in graph.selections.items()
        }


def delete_store(cluster: ArchivedCluster) -> None:
    opened, graph = selected(cluster)
    with opened:
        opened.execute("SET session_replication_role = replica")
        opened.execute("DELETE FROM stores_proof")
        for selection in reversed(graph.selections.values()):
            opened.execute(
                f"DELETE FROM {selection.model._meta.db_table} "
                f"WHERE ctid IN (SELECT place FROM {selection.rows.as_string()})"
            )
        opened.execute("DELETE FROM stores_ordersearch WHERE order_id NOT IN (SELECT id FROM stores_order)")


def now(cluster: ArchivedCluster) -> str:
    return str(cluster.rows("SELECT date_trunc('second', now())")[0][0])


@pytest.fixture(scope="module")
def scene(django_db_setup, django_db_blocker, tmp_path_factory) -> Iterator[Scene]:
    require_packages("pgbackrest", "/usr/lib/postgresql/15/bin/postgres")
    shutil.rmtree(settings.MEDIA_ROOT, ignore_errors=True)
    with django_db_blocker.unblock(), archived_cluster() as cluster, connected_to(cluster):
        build_service()
        if ORDERS:
            create_sample_orders(count=ORDERS, stores=[Store.objects.get(external_id="associated")])
        backup = tmp_path_factory.mktemp("backups") / "2026-11-26"
        call_command("backup", str(backup))
        for line in (SHIPPED / "cron").read_text().splitlines():
            if "full" in line or "check" in line:
                cluster.run("/bin/sh", "-c", line.split(maxsplit=6)[-1])
        # Only the archive has this order.
        order = Order.objects.latest("created")
        OrderComment.objects.create(order=order, text="After the backup", created=order.created)
        before = rows_of_store(cluster)
        time.sleep(1.1)
        moment = now(cluster)
        time.sleep(1.1)
        delete_store(cluster)
        copied = cluster.restore_copy(moment)
        assert copied.returncode == 0, copied.stderr
        yield Scene(cluster, moment, before, backup, copied.stdout)
    shutil.rmtree(settings.MEDIA_ROOT, ignore_errors=True)


def restore(scene: Scene, *arguments: str, names: tuple[str, ...] = NAMES, copy: str = "") -> None:
    call_command("restore_record", *names, "--copy", copy or scene.cluster.copy, *arguments)


def test_every_table_can_be_ordered_by_what_its_rows_depend_on():
    models = ordered_models()

    assert models.index(Store) < models.index(Order) < models.index(OrderItem)


def test_refused_restores_say_what_to_do(scene):
    cluster = scene.cluster
    refusals = [
        (("stores.Store", "external_id=other"), "", "The copy has no stores.Store external_id=other"),
        (("stores.Shop", "id=1"), "", "write a model and one of its fields"),
        (("stores.Order", "id=x"), "", "names no record"),
        (("stores.Store",), "", "in pairs of MODEL and FIELD=VALUE"),
        (NAMES, f"127.0.0.1:{cluster.port}", "is the live database itself"),
        (NAMES, "127.0.0.1:1", "does not respond.*restore-copy"),
        (("accounts.Tenant", "id=1"), "", "exists in the live database"),
        # The application that placed the orders would have to come back first.
        (("stores.Product", "external_id=card-two-sided"), "", "name it in the same command"),
    ]

    for names, copy, said in refusals:
        with pytest.raises(CommandError, match=f"(?s){said}"):
            restore(scene, names=names, copy=copy)
    with pytest.raises(CommandError, match="name a folder that `backup` wrote"):
        restore(scene, "--files", str(scene.backup.parent))
    with exclusive_job("Restoring records"), pytest.raises(CommandError, match="already running"):
        restore(scene)
    assert Store.objects.filter(external_id="associated").count() == 0


def test_copy_of_another_release_is_refused(scene):
    connection.cursor().execute("INSERT INTO django_migrations (app, name, applied) VALUES ('x', '1', now())")
    try:
        with pytest.raises(CommandError, match=r"another release: x\.1 is applied in one"):
            restore(scene)
    finally:
        connection.cursor().execute("DELETE FROM django_migrations WHERE app = 'x'")


def test_missing_files_are_refused_and_nothing_comes_back(scene):
    shutil.rmtree(settings.MEDIA_ROOT)

    with pytest.raises(CommandError, match=r"2 files are neither in the storage.*--files"):
        restore(scene)

    assert not Store.objects.filter(external_id="associated").exists()
    assert not Path(settings.MEDIA_ROOT).exists()


def test_failed_commit_leaves_no_files(scene):
    shutil.rmtree(settings.MEDIA_ROOT, ignore_errors=True)

    def end_connection(line: str) -> None:
        if line.endswith("Committing"):
            assert len(stored_files()) == 2
            pid = connection.connection.info.backend_pid
            scene.cluster.rows("SELECT pg_terminate_backend(%s)", pid)
            wait_for(lambda: not scene.cluster.rows("SELECT 1 FROM pg_stat_activity WHERE pid = %s", pid))

    with pytest.raises(DatabaseError):
        restore_records(
            roots=[Root(Store, "external_id", "associated")],
            copy=scene.cluster.copy,
            files=scene.backup,
            on_progress=end_connection,
        )

    assert not Store.objects.filter(external_id="associated").exists()
    assert stored_files() == []


def stored_files() -> list[Path]:
    return [path for path in Path(settings.MEDIA_ROOT).rglob("*") if path.is_file()]


def test_killed_restore_changes_nothing(scene):
    with psycopg.connect(scene.cluster.url) as held:
        held.execute("LOCK TABLE stores_orderitem IN SHARE MODE")
        process = subprocess.Popen(
            [sys.executable, "manage.py", "restore_record", *NAMES, "--copy", scene.cluster.copy],
            cwd=ROOT,
            env=scene.cluster.environment(Path(settings.MEDIA_ROOT)),
            stdout=subprocess.PIPE,
            text=True,
        )
        waits = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'COPY%%'"
        wait_for(lambda: scene.cluster.rows(waits))
        process.send_signal(signal.SIGKILL)
        process.communicate()
    wait_for(lambda: not scene.cluster.rows(waits))

    assert not Order.objects.exists()
    assert not Store.objects.filter(external_id="associated").exists()


def test_deleted_store_comes_back_alone_with_every_row_and_file(scene, capsys):
    other = Store.objects.create(external_id="since", company_name="Made since")
    restore(scene, "--check")
    assert rows_of_store(scene.cluster) == {}
    shutil.rmtree(settings.MEDIA_ROOT, ignore_errors=True)

    begin = time.monotonic()
    restore(scene, "--files", str(scene.backup))
    seconds = time.monotonic() - begin

    assert rows_of_store(scene.cluster) == scene.before
    assert len(scene.before) > 10
    assert Store.objects.filter(pk=other.pk).exists()
    names = set(OrderItem.objects.exclude(print_file="").values_list("print_file", flat=True))
    assert {name for name in names if not (Path(settings.MEDIA_ROOT) / name).is_file()} == set()
    # Found by their words again, and in the audit trail as what it was.
    assert scene.cluster.rows("SELECT count(*) FROM stores_ordersearch") == [(Order.objects.count(),)]
    recorded = "SELECT metadata ->> 'source' FROM stores_storeevent JOIN pghistory_context c ON c.id = pgh_context_id"
    assert ("restore_record",) in scene.cluster.rows(recorded)
    output = capsys.readouterr().out
    assert "Copying 1 rows of stores_store" in output
    if ORDERS:
        with capsys.disabled():
            sys.stdout.write(f"\n{scene.said}{output}{seconds:.0f} s, load {os.getloadavg()[0]:.1f}\n")
    with pytest.raises(CommandError, match="exists in the live database; only what was deleted"):
        restore(scene)


def test_everything_comes_back_in_the_place_of_the_database(scene):
    """The way of the page for the whole database; it goes back in time, so only the next test may follow."""
    Store.objects.create(external_id="mistake", company_name="Made by mistake")
    connection.close()
    scene.cluster.stop("fast")

    scene.cluster.run(
        *("pgbackrest", "--stanza=fulfillment", "--delta", "--type=time", f"--target={scene.moment}"),
        *("--target-action=promote", "restore"),
    )
    scene.cluster.start()
    wait_for(lambda: scene.cluster.rows("SELECT NOT pg_is_in_recovery()") == [(True,)])

    assert rows_of_store(scene.cluster) == scene.before
    assert not Store.objects.filter(external_id="mistake").exists()


def test_database_comes_back_on_a_new_disk(scene):
    """The way of the page for a lost disk: only the archive is left."""
    Store.objects.create(external_id="latest", company_name="Made last")
    connection.close()
    scene.cluster.run("pgbackrest", "--stanza=fulfillment", "check")
    scene.cluster.stop("immediate")
    shutil.rmtree(scene.cluster.data)
    # A new installation has an empty cluster of its own.
    scene.cluster.run(PROGRAMS / "initdb", "-D", scene.cluster.data, "-U", "postgres", "--no-sync")

    scene.cluster.run("pgbackrest", "--stanza=fulfillment", "--delta", "restore")
    scene.cluster.start()
    wait_for(lambda: scene.cluster.rows("SELECT NOT pg_is_in_recovery()") == [(True,)])

    assert rows_of_store(scene.cluster) == scene.before
    assert Store.objects.filter(external_id="latest").exists()
