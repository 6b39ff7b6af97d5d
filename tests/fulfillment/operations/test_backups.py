"""What `backup` writes `restore` puts back, whole or not at all."""

import hashlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import boto3
import psycopg
import pytest
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage, storages
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import override_settings
from psycopg import sql

from fulfillment.core.db.locks import exclusive_job
from fulfillment.core.errors import Unprocessable
from fulfillment.core.files.stored import read_file
from fulfillment.models import BackupDrill
from fulfillment.operations.backups import drills, making, programs
from fulfillment.operations.backups.manifest import check_backup, read_manifest
from fulfillment.operations.backups.programs import find_program
from fulfillment.operations.backups.records import restore_missing
from fulfillment.site.metrics import DRILL_GAUGES
from stores.orders.models import Order, OrderItem
from tests.factories.orders import card_data, make_card, order_body
from tests.support.api.modes import add_test_application
from tests.support.database.address import address_of
from tests.support.database.old_migrations import old_migrations
from tests.support.database.snapshots import Snapshot
from tests.support.patience import wait_for
from tests.support.scenario import World, build_world
from tests.support.servers.buckets import serving_buckets
from tests.tools.release_dump import used

ROOT = Path(__file__).resolve().parents[3]
SECOND = "second_for_restore"

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def build_service() -> World:
    """In use: an order with a frozen print file, a proof, a key regenerated."""
    world = build_world()
    make_card(world.associated)
    place_order(world)
    proof = world.as_application().call("POST", "/store/associated/product/card-two-sided/proof", card_data())
    assert proof.status_code in {200, 201}, proof.content
    return world


@pytest.fixture(scope="module")
def made_service(snapshot_of) -> Snapshot[World]:
    return snapshot_of(build_service)


@contextmanager
def in_use(service: Snapshot[World]) -> Iterator[World]:
    """With no file of another test."""
    shutil.rmtree(settings.MEDIA_ROOT, ignore_errors=True)
    yield service.restore()
    shutil.rmtree(settings.MEDIA_ROOT, ignore_errors=True)


@pytest.fixture
def shop(made_service: Snapshot[World]) -> Iterator[World]:
    with in_use(made_service) as world:
        yield world


@pytest.fixture(scope="module")
def made_backup(made_service: Snapshot[World], django_db_blocker, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("backups") / "backup"
    with django_db_blocker.unblock(), in_use(made_service):
        call_command("backup", str(folder))
        call_command("flush", interactive=False, verbosity=0, reset_sequences=False)
    return folder


@pytest.fixture
def backup(made_backup: Path, tmp_path: Path) -> Path:
    """Of the service in use, for a test to restore or to damage."""
    return shutil.copytree(made_backup, tmp_path / "backup")


def place_order(world: World):
    item = {"ProductID": "card-two-sided", "Quantity": 100, "TemplateData": card_data()}
    response = world.as_application().call("POST", "/store/associated/order", order_body(Items=[item]))
    assert response.status_code == 201, response.content
    return response


@contextmanager
def connected(name: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(address_of(name), autocommit=True) as opened:
        process = opened.info.backend_pid
        yield opened
    # Until then a restore finds the database in use.
    with psycopg.connect(address_of("postgres"), autocommit=True) as server:
        known = "SELECT 1 FROM pg_stat_activity WHERE pid = %s"
        wait_for(lambda: not server.execute(known, [process]).fetchall())


@pytest.fixture
def second(tmp_path) -> Iterator[dict[str, str]]:
    """The environment of an empty service: another database, another folder, the same secrets."""
    name = sql.Identifier(f"{SECOND}_{os.getpid()}")
    with connected("postgres") as server:
        server.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))
        server.execute(sql.SQL("CREATE DATABASE {}").format(name))
    yield environment(f"{SECOND}_{os.getpid()}", tmp_path / "media")
    with connected("postgres") as server:
        server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))


def environment(database: str, media: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "FULFILLMENT_MODE": "production",
        "PUBLIC_URL": "https://print.example",
        "SECRET_KEY": settings.SECRET_KEY,
        "FULFILLMENT_PEPPERS": settings.PEPPERS[0],
        "FULFILLMENT_ENCRYPTION_KEYS": settings.ENCRYPTION_KEYS[0],
        "DATABASE_URL": address_of(database),
        "MEDIA_ROOT": str(media),
    }


def manage(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments], cwd=ROOT, env=environment, capture_output=True, text=True
    )


def restore(service: dict[str, str], *arguments: str) -> str:
    """What `restore` says on that service's database and folder; run by this process, which needs no start."""
    output = io.StringIO()
    secrets = {name: [service[f"FULFILLMENT_{name}"]] for name in ("PEPPERS", "ENCRYPTION_KEYS")}
    with used(f"{SECOND}_{os.getpid()}"), override_settings(MEDIA_ROOT=service["MEDIA_ROOT"], **secrets):
        call_command("restore", *arguments, stdout=output, stderr=output)
    return output.getvalue()


def contents_of(database: str) -> dict[str, str]:
    """Every table, and a digest of all its rows."""
    with connected(database) as opened:
        names = opened.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"
        ).fetchall()
        text = (
            "SELECT md5(coalesce(string_agg(r::text, E'\\n' ORDER BY r::text COLLATE \"C\"), '')) FROM {} r"
        )
        return {
            name: opened.execute(sql.SQL(text).format(sql.Identifier(name))).fetchone()[0]
            for (name,) in names
        }


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


READ_EXPORT = """
from django.test import Client
from django.conf import settings
settings.SECURE_SSL_REDIRECT = False
for secret, key, query in {clients!r}:
    headers = {{"Authorization": "Bearer " + secret, "Ocp-Apim-Subscription-Key": key, "Host": "print.example"}}
    path = "/api/v1/store/associated/order/exportview" + query
    rows = Client(headers=headers).get(path, secure=True).json()
    print([row["OrderID"] for row in rows])
"""


def test_restored_service_is_the_same_in_every_table_and_file(shop, second, tmp_path, capsys):
    live, test = shop.as_application(), shop.as_application(add_test_application(shop))
    item = {"ProductID": "card-two-sided", "Quantity": 100, "TemplateData": card_data()}
    body = order_body(Items=[item], Metadata={"TestOutcome": "Delivered"})
    placed = test.call("POST", "/store/associated/order", body)
    assert (placed.status_code, placed.json()["IsTest"]) == (201, True)
    call_command("backup", str(tmp_path / "backup"))
    output = capsys.readouterr()
    source = contents_of(connection.settings_dict["NAME"])

    result = manage(second, "restore", str(tmp_path / "backup"))

    assert result.returncode == 0, result.stderr
    restored = contents_of(f"{SECOND}_{os.getpid()}")
    assert restored == source
    assert len(source) > 40
    files = files_below(tmp_path / "media")
    assert files == files_below(Path(settings.MEDIA_ROOT))
    assert {name.split("/")[0] for name in files} == {"print-files", "proofs"}
    # Triggers and constraints came along: the trail is closed. Numbers that may have been given since are skipped.
    with connected(f"{SECOND}_{os.getpid()}") as opened:
        with pytest.raises(psycopg.DatabaseError, match="append_only"):
            opened.execute("DELETE FROM accounts_userevent")
        (number,) = opened.execute("SELECT nextval('stores_order_number')").fetchone()
    assert number > max(Order.objects.values_list("number", flat=True)) + 1_000_000
    assert f"New orders begin at number {number}" in result.stdout
    assert manage(second, "migrate", "--check").returncode == 0
    # Test data stays apart from live data.
    script = READ_EXPORT.format(
        clients=[(live.token, live.key, ""), (test.token, test.key, "?includeTest=true")]
    )
    read = manage(second, "shell", "--verbosity", "0", "-c", script)
    of_live = str(Order.objects.get(is_test=False).pk)
    assert read.stdout.splitlines() == [f"['{of_live}']", f"['{placed.json()['OrderID']}']"], read.stderr
    secrets = [settings.SECRET_KEY, settings.PEPPERS[0], settings.ENCRYPTION_KEYS[0]]
    everything = output.out + output.err + result.stdout + result.stderr
    assert not [secret for secret in secrets if secret in everything]


def test_restore_refuses_a_database_that_is_not_empty(shop, second, backup):
    with connected(f"{SECOND}_{os.getpid()}") as opened:
        opened.execute("CREATE TABLE precious (value text); INSERT INTO precious VALUES ('kept')")

    with pytest.raises(CommandError, match="not empty"):
        restore(second, str(backup))
    assert list(contents_of(f"{SECOND}_{os.getpid()}")) == ["precious"]

    restore(second, "--force", str(backup))
    assert contents_of(f"{SECOND}_{os.getpid()}") == contents_of(connection.settings_dict["NAME"])


def test_second_restore_skips_the_numbers_given_since_the_first(second, backup):
    """The same number named two orders: a press that knew the first would not have printed the second."""
    given = []
    for _ in range(2):
        restore(second, "--force", str(backup))
        with connected(f"{SECOND}_{os.getpid()}") as opened:
            sequences = "nextval('stores_order_number'), nextval('production_gangsheet_id_seq')"
            given.append(opened.execute(f"SELECT {sequences}").fetchone())

    assert all(later > earlier for earlier, later in zip(*given, strict=True)), given


def test_restore_refuses_while_the_service_is_connected(second, backup):
    with (
        connected(f"{SECOND}_{os.getpid()}"),
        pytest.raises(CommandError, match="stop the service"),
    ):
        restore(second, str(backup))


def damage(folder: Path, kind: str) -> None:
    some_file = next(path for path in (folder / "files").rglob("*.pdf"))
    manifest = json.loads((folder / "manifest.json").read_text())
    if kind == "dump":
        with (folder / "database.dump").open("ab") as file:
            file.write(b"x")
    elif kind == "file":
        some_file.write_bytes(some_file.read_bytes()[:-1])
    elif kind == "lost file":
        some_file.unlink()
    elif kind == "list":
        (folder / "files.jsonl").write_text("")
    elif kind == "manifest":
        (folder / "manifest.json").write_text('{"format": 1')
    elif kind == "way out":
        lines = (folder / "files.jsonl").read_text().splitlines()
        lines[0] = json.dumps({**json.loads(lines[0]), "name": "../../outside"})
        (folder / "files.jsonl").write_text("\n".join(lines) + "\n")
        manifest["list_sha256"] = hashlib.sha256((folder / "files.jsonl").read_bytes()).hexdigest()
        (folder / "manifest.json").write_text(json.dumps(manifest))
    else:
        manifest["tables"]["stores_order"] += 1
        (folder / "manifest.json").write_text(json.dumps(manifest))


def test_backup_is_refused_with_any_part_damaged(backup, tmp_path):
    check_backup(backup, read_manifest(backup))

    for kind in ("dump", "file", "lost file", "list", "manifest", "way out"):
        folder = shutil.copytree(backup, tmp_path / kind)
        damage(folder, kind)
        with pytest.raises(
            Unprocessable, match="cannot be read" if kind == "manifest" else "backup is damaged"
        ):
            check_backup(folder, read_manifest(folder))


@pytest.mark.parametrize(
    ("kind", "said"),
    [("dump", "The backup is damaged"), ("rows", "other numbers of rows than the backup: stores_order")],
)
def test_refused_restore_changes_nothing(second, backup, kind, said):
    with connected(f"{SECOND}_{os.getpid()}") as opened:
        opened.execute("CREATE TABLE precious (value text)")
    damage(backup, kind)

    with pytest.raises(CommandError, match=said):
        restore(second, "--force", str(backup))

    assert list(contents_of(f"{SECOND}_{os.getpid()}")) == ["precious"]


def test_restore_refuses_the_backup_of_a_newer_release(second, tmp_path):
    recorder = MigrationRecorder(connection)
    recorder.record_applied("stores", "9999_to_come")
    try:
        call_command("backup", str(tmp_path / "backup"))
    finally:
        recorder.record_unapplied("stores", "9999_to_come")

    with pytest.raises(CommandError, match=r"newer release, with stores\.9999_to_come"):
        restore(second, str(tmp_path / "backup"))

    assert contents_of(f"{SECOND}_{os.getpid()}") == {}


def test_restore_refuses_a_backup_made_before_the_first_release(second, tmp_path):
    with old_migrations():
        call_command("backup", str(tmp_path / "backup"))

    with pytest.raises(CommandError, match=r"made before release 0\.1\.0"):
        restore(second, str(tmp_path / "backup"))

    assert contents_of(f"{SECOND}_{os.getpid()}") == {}


def leave_interrupted() -> None:
    """What a kill between setting the old tables aside and the end leaves."""
    with connected(f"{SECOND}_{os.getpid()}") as opened:
        opened.execute("CREATE TABLE precious (value text)")
        opened.execute(
            "ALTER SCHEMA public RENAME TO before_restore; CREATE SCHEMA public; CREATE TABLE half (a int)"
        )


def test_old_tables_come_back_after_a_killed_restore(second, backup):
    leave_interrupted()

    with pytest.raises(CommandError, match="not empty"):
        restore(second, str(backup))

    assert list(contents_of(f"{SECOND}_{os.getpid()}")) == ["precious"]


def test_old_tables_stay_aside_while_the_backup_is_damaged(second, backup):
    leave_interrupted()
    damage(backup, "dump")

    with pytest.raises(CommandError, match="The backup is damaged"):
        restore(second, "--force", str(backup))

    assert list(contents_of(f"{SECOND}_{os.getpid()}")) == ["half"]


@pytest.mark.parametrize(
    "command",
    [
        ["manage.py", "prepare"],
        ["manage.py", "backup", "/dev/null/x"],
        ["manage.py", "worker"],
        ["-c", "import fulfillment.wsgi"],
    ],
    ids=" ".join,
)
def test_nothing_begins_on_the_tables_of_a_killed_restore(second, command):
    leave_interrupted()

    result = subprocess.run(
        ["timeout", "30", sys.executable, *command], cwd=ROOT, env=second, capture_output=True, text=True
    )

    assert result.returncode == 1
    assert "A restore was interrupted, or is still running. Run `restore` again." in result.stderr
    assert "Traceback" not in result.stderr


SLOW = """#!/bin/sh
case "$*" in *--version*) echo "pg_restore (PostgreSQL) 18.0" ;; *) touch {begun}; exec sleep 60 ;; esac
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT], ids=lambda one: one.name)
def test_stopped_restore_changes_nothing(second, backup, tmp_path, number):
    with connected(f"{SECOND}_{os.getpid()}") as opened:
        opened.execute("CREATE TABLE precious (value text)")
    program, begun = tmp_path / "pg_restore", tmp_path / "begun"
    program.write_text(SLOW.format(begun=begun))
    program.chmod(0o755)
    process = subprocess.Popen(
        [sys.executable, "manage.py", "restore", str(backup), "--force"],
        cwd=ROOT,
        env={**second, "PATH": f"{tmp_path}:{second['PATH']}"},
        stderr=subprocess.PIPE,
        text=True,
        # Also where the tests run under nohup.
        preexec_fn=partial(signal.signal, signal.SIGHUP, signal.SIG_DFL),
    )
    wait_for(begun.exists)
    process.send_signal(number)

    assert process.communicate()[1].splitlines()[-1] == "CommandError: The restore was stopped. Run it again."
    assert list(contents_of(f"{SECOND}_{os.getpid()}")) == ["precious"]


def test_restore_and_drill_have_no_time_limit(second, backup):
    """A count of a large table, or the removal of its database, takes longer than a statement of the service may."""
    limits = set()

    def note_limit(execute, statement, *rest):
        text = statement if isinstance(statement, str) else statement.as_string()
        if re.match(r'(SELECT count\(\*\) FROM "|CREATE DATABASE|DROP DATABASE)', text):
            execute("SHOW statement_timeout", None, *rest[1:])
            limits.add((text.split('"')[0], rest[-1]["cursor"].fetchone()[0]))
        return execute(statement, *rest)

    with connection.execute_wrapper(note_limit):
        restore(second, str(backup))
        call_command("drill", str(backup.parent))

    assert limits == {(what, "0") for what in ("SELECT count(*) FROM ", "CREATE DATABASE ", "DROP DATABASE ")}


def test_killed_backup_is_never_mistaken_for_complete(shop, second, tmp_path):
    """A pipe among the files holds the copying up; then the process is killed."""
    pipe = Path(settings.MEDIA_ROOT) / "zz" / "pipe"
    pipe.parent.mkdir()
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [sys.executable, "manage.py", "backup", str(tmp_path / "backup")],
        cwd=ROOT,
        env=environment(connection.settings_dict["NAME"], settings.MEDIA_ROOT),
        stdout=subprocess.PIPE,
        text=True,
    )
    wait_for(lambda: list(tmp_path.glob(".backup.*.part/files/print-files/*/*/*.pdf")))
    process.send_signal(signal.SIGKILL)
    process.communicate()
    pipe.unlink()

    assert not (tmp_path / "backup").exists()
    (part,) = tmp_path.glob(".backup.*.part")
    with pytest.raises(CommandError, match="not a complete backup"):
        restore(second, str(part))
    call_command("backup", str(tmp_path / "backup"))
    assert read_manifest(tmp_path / "backup").file_count == len(files_below(Path(settings.MEDIA_ROOT)))


def test_failed_backup_leaves_nothing(shop, tmp_path, monkeypatch):
    monkeypatch.setattr(
        making, "write_contents", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left", "x"))
    )

    with pytest.raises(CommandError, match="no room left"):
        call_command("backup", str(tmp_path / "backup"))

    assert list(tmp_path.iterdir()) == []


def test_backup_beside_new_orders_holds_the_files_of_all_its_rows(shop, second, tmp_path):
    over = threading.Event()

    def order():
        while not over.is_set():
            place_order(shop)
        connection.close()

    ordering = threading.Thread(target=order)
    ordering.start()
    try:
        wait_for(lambda: Order.objects.count() >= 2)
        call_command("backup", str(tmp_path / "backup"))
    finally:
        over.set()
        ordering.join()

    manifest = read_manifest(tmp_path / "backup")
    assert 1 < manifest.tables["stores_order"] <= Order.objects.count()
    assert manifest.absent == []
    assert "Restored " in restore(second, str(tmp_path / "backup"))


def test_lost_files_are_named(shop, tmp_path, capsys):
    name = OrderItem.objects.get().print_file
    default_storage.delete(name)

    call_command("backup", str(tmp_path / "backup"))

    assert read_manifest(tmp_path / "backup").absent == [name]
    assert name in capsys.readouterr().err


def test_backup_is_private_and_never_written_over(shop, tmp_path):
    call_command("backup", str(tmp_path / "backup"))

    assert (tmp_path / "backup").stat().st_mode & 0o777 == 0o700
    with pytest.raises(CommandError, match="already exists"):
        call_command("backup", str(tmp_path / "backup"))
    with exclusive_job("Pruning"), pytest.raises(CommandError, match="Pruning is already running"):
        call_command("backup", str(tmp_path / "other"))


@pytest.mark.parametrize("name", ["FULFILLMENT_ENCRYPTION_KEYS", "FULFILLMENT_PEPPERS"])
def test_backup_with_other_secrets_is_reported(second, backup, name):
    other = {**second, name: "another value of another service 0123456789"}

    assert f"The restored keys do not fit {name} of this installation" in restore(other, str(backup))


def test_database_that_was_not_prepared_is_one_clear_line_of_a_command(second):
    for command in (
        ["create_operator", "olivia", "--email", "olivia@print.example"],
        ["rotate_secrets", "--check"],
    ):
        result = manage(second, *command)

        assert result.returncode == 1
        assert "does not have the tables of this release; run prepare." in result.stderr.splitlines()[-1]
        assert "Traceback" not in result.stderr


# Nothing responds there: none of these commands may use it.
POOLER = {"DATABASE_URL": "postgresql://nobody@127.0.0.1:9/none", "DATABASE_POOLER": "transaction"}


def test_commands_that_change_a_session_go_past_the_pooler(second, backup, tmp_path):
    """pg_dump empties the search path of a connection that the pooler then gives to the web."""
    past = {**second, **POOLER, "DATABASE_DIRECT_URL": second["DATABASE_URL"]}
    for command in (
        ["restore", str(backup)],
        ["prepare"],
        ["backup", str(tmp_path / "backups" / "one")],
        ["drill", str(tmp_path / "backups")],
    ):
        result = manage(past, *command)
        assert (result.returncode, result.stderr) == (0, ""), command


@pytest.mark.parametrize(
    "command",
    [
        ["backup", "/dev/null/x"],
        ["drill"],
        ["migrate"],
        ["move_files", "s3"],
        ["prepare"],
        ["restore", "/dev/null/x"],
        ["restore_record", "stores.Store", "external_id=x", "--copy", "127.0.0.1:9"],
    ],
    ids=lambda command: command[0],
)
def test_command_that_cannot_go_past_the_pooler_is_refused(command):
    with override_settings(DATABASE_POOLER="transaction"), pytest.raises(CommandError, match="DIRECT_URL"):
        call_command(*command)


def drill_gauges() -> dict[str, float]:
    with connection.cursor() as cursor:
        cursor.execute(DRILL_GAUGES.statement)
        return {name: value for name, _, value in cursor.fetchall()}


def scratch_databases() -> list[tuple]:
    with connected("postgres") as server:
        name = f"{connection.settings_dict['NAME']}_drill"
        return server.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchall()


def test_drill_restores_the_newest_backup_and_reports_when(shop, backup, tmp_path, capsys):
    manifest = json.loads((backup / "manifest.json").read_text())
    older = shutil.copytree(backup, tmp_path / "older")
    damage(older, "dump")
    (older / "manifest.json").write_text(json.dumps({**manifest, "created": "2020-01-01T00:00:00+00:00"}))
    before = drill_gauges()
    # What a killed drill left.
    with connected("postgres") as server:
        name = f"{connection.settings_dict['NAME']}_drill"
        server.execute(f"CREATE DATABASE {name}")
        server.execute(f"COMMENT ON DATABASE {name} IS '{drills.SCRATCH}'")

    call_command("drill", str(tmp_path))

    assert "The drill passed" in capsys.readouterr().out
    after = drill_gauges()
    assert after["drill_passed_seconds"] < after["drill_backup_seconds"] < before["drill_passed_seconds"]
    assert scratch_databases() == []
    # Its own row is all that changed.
    assert Order.objects.count() == manifest["tables"]["stores_order"]


def test_drill_killed_while_it_makes_its_database_is_no_obstacle(shop, backup, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(drills, "MARK", "as if killed")
        with pytest.raises(CommandError):
            call_command("drill", str(backup.parent))
    assert len(scratch_databases()) == 1

    call_command("drill", str(backup.parent))

    assert scratch_databases() == []


def test_drill_leaves_a_database_of_its_name_that_it_did_not_make(shop, backup):
    name = f"{connection.settings_dict['NAME']}_drill"
    with connected("postgres") as server:
        server.execute(f"CREATE DATABASE {name}")

        with pytest.raises(CommandError, match=f"{name} exists that no drill created"):
            call_command("drill", str(backup.parent))

        assert len(scratch_databases()) == 1
        server.execute(f"DROP DATABASE {name}")


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("dump", "The drill failed. The backup is damaged: database.dump"),
        ("rows", "other numbers of rows than the backup"),
        ("old", "no new ones are made. Look at the log of fulfillment-backup.service"),
        ("none", "contains no backup; look at the log"),
        ("secrets", "The keys in the backup do not fit FULFILLMENT_PEPPERS"),
    ],
)
def test_failed_drill_says_why_and_counts_as_none(shop, backup, kind, said, monkeypatch):
    manifest = json.loads((backup / "manifest.json").read_text())
    if kind == "old":
        manifest["created"] = "2020-01-01T00:00:00+00:00"
        (backup / "manifest.json").write_text(json.dumps(manifest))
    elif kind == "none":
        (backup / "manifest.json").unlink()
    elif kind == "secrets":
        monkeypatch.setattr(drills, "settings_that_do_not_fit", lambda: ["FULFILLMENT_PEPPERS"])
    else:
        damage(backup, kind)

    with pytest.raises(CommandError, match=said):
        call_command("drill", str(backup.parent))

    assert not BackupDrill.objects.exists()
    assert scratch_databases() == []


def test_older_programs_are_refused_by_name(tmp_path, monkeypatch):
    program = tmp_path / "pg_dump"
    program.write_text('#!/bin/sh\necho "pg_dump (PostgreSQL) 9.6.24"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_program("pg_dump") != program, "the one that comes with the service fits"

    monkeypatch.setattr(programs, "_candidates", lambda name, major: [program])
    with pytest.raises(Unprocessable, match=r"server is PostgreSQL 18, and no pg_dump .* \(9\)"):
        find_program("pg_dump")


@pytest.fixture
def bucket(monkeypatch):
    """The storage of all files."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    with serving_buckets() as address:
        options = {"endpoint_url": address, "region_name": "us-east-1"}
        boto3.client("s3", **options).create_bucket(Bucket="files")
        options |= {"bucket_name": "files", "file_overwrite": True, "location": "below"}
        storage = storages.create_storage({"BACKEND": "storages.backends.s3.S3Storage", "OPTIONS": options})
        monkeypatch.setattr(default_storage, "_wrapped", storage)
        yield storage


def test_files_of_a_bucket_come_into_the_backup_and_back(tmp_path, bucket):
    names = ["a.txt", "print-files/ab/c.pdf", *(f"assets/{number % 7}/{number}.png" for number in range(30))]
    for name in names:
        bucket.save(name, ContentFile(name.encode()))
    call_command("backup", str(tmp_path / "backup"))
    assert read_manifest(tmp_path / "backup").file_count == len(names)
    assert (tmp_path / "backup/files/print-files/ab/c.pdf").read_bytes() == b"print-files/ab/c.pdf"


def test_deleted_file_of_a_bucket_comes_back_from_its_versions(bucket):
    bucket.bucket.Versioning().enable()
    for name in ("a.pdf", "a.pdf.old"):
        bucket.save(name, ContentFile(name.encode()))
        bucket.delete(name)

    assert restore_missing(["a.pdf", "never.pdf"], None) == ["never.pdf"]

    assert read_file("a.pdf") == b"a.pdf"
    assert not bucket.exists("a.pdf.old")


def test_missing_file_comes_back_from_a_backup_unless_it_is_damaged_there(shop, backup):
    shutil.rmtree(settings.MEDIA_ROOT)
    good, bad = [
        str(path.relative_to(backup / "files")) for path in (backup / "files").rglob("*.p*") if path.is_file()
    ][:2]
    (backup / "files" / bad).write_bytes(b"damaged")

    assert restore_missing([good, bad], backup) == [bad]

    assert list(files_below(Path(settings.MEDIA_ROOT))) == [good]
