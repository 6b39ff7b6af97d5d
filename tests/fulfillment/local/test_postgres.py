import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from fulfillment.local import postgres, postgres_layout
from tests.support.patience import wait_for

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
USER_OF_SERVER = """
import sys
from pathlib import Path
from fulfillment.local.postgres import ensure_running
print(ensure_running(Path(sys.argv[1]), durable=False), flush=True)
sys.stdin.read()
"""
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the server as another user")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every user may pass through, unlike pytest's own."""
    path = Path(tempfile.mkdtemp(prefix="fulfillment-test-"))
    path.chmod(0o755)
    yield path / "postgres"
    postgres.release(path / "postgres")
    shutil.rmtree(path)


@pytest.fixture
def cluster(folder: Path, cluster_template: Path) -> Path:
    """A folder with a stopped, empty server."""
    subprocess.run(["cp", "-a", cluster_template, folder], check=True)
    return folder


@pytest.fixture(scope="module")
def cluster_template() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="fulfillment-test-"))
    path.chmod(0o755)
    postgres.ensure_running(path / "postgres", durable=False)
    postgres.release(path / "postgres")
    yield path / "postgres"
    shutil.rmtree(path)


@contextmanager
def process_using(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [sys.executable, "-c", USER_OF_SERVER, str(folder)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        yield process, process.stdout.readline().strip()


def answers(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=30).close()
    except psycopg.OperationalError:
        return False
    return True


def server_process(folder: Path) -> int:
    return int((folder / "postmaster.pid").read_text().splitlines()[0])


def wait_for_end(process: int) -> None:
    wait_for(lambda: not Path(f"/proc/{process}/exe").exists())


def test_server_is_made_private_and_durable(folder):
    url = postgres.ensure_running(folder, database="shop")

    with psycopg.connect(url) as connection:
        names = ("server_encoding", "listen_addresses", "fsync", "synchronous_commit", "jit", "log_statement")
        settings = {
            name: connection.execute("SELECT current_setting(%s)", [name]).fetchone()[0] for name in names
        }
        row = connection.execute(
            "SELECT datname, datlocprovider, datlocale FROM pg_database WHERE datname = current_database()"
        ).fetchone()
    assert settings == {
        "server_encoding": "UTF8",
        "listen_addresses": "",
        "fsync": "on",
        "synchronous_commit": "on",
        "jit": "off",
        "log_statement": "none",
    }
    assert row == ("shop", "b", "C.UTF-8")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert postgres.ensure_running(folder, database="shop") == url == postgres.locate(folder, database="shop")


def test_release_stops_the_server_of_the_last_process(cluster):
    with process_using(cluster) as (process, url):
        assert postgres.ensure_running(cluster, durable=False) == url
        assert postgres.release(cluster) is False
        assert answers(url)

        process.communicate("")

    assert process.returncode == 0
    assert not answers(url)
    assert not (cluster / "postmaster.pid").exists()


def test_processes_that_start_together_share_one_server(folder):
    with process_using(folder) as (_, first), process_using(folder) as (_, second):
        assert first == second
        assert answers(first)


def test_server_of_a_killed_process_is_used_again(cluster):
    with process_using(cluster) as (process, url):
        server = server_process(cluster)
        process.kill()

    assert answers(url)
    assert postgres.ensure_running(cluster, durable=False) == url
    assert server_process(cluster) == server
    assert postgres.release(cluster) is True
    wait_for_end(server)


def test_server_that_was_killed_starts_again(cluster):
    with process_using(cluster) as (process, url):
        server = server_process(cluster)
        os.kill(server, signal.SIGKILL)
        process.kill()
    wait_for_end(server)

    postgres.ensure_running(cluster, durable=False)

    assert answers(url)


def test_process_id_of_another_program_does_not_stop_the_start(cluster):
    (cluster / "postmaster.pid").write_text(f"{os.getpid()}\n{cluster}\n")

    assert answers(postgres.ensure_running(cluster, durable=False))


def test_interrupted_making_of_a_cluster_is_repeated(folder):
    leftover = folder.with_name("postgres.new")
    leftover.mkdir()
    (leftover / "PG_VERSION").write_text("18\n")

    assert answers(postgres.ensure_running(folder, durable=False))
    assert not leftover.exists()


def test_long_path_gets_a_short_private_socket_folder(folder, cluster_template):
    long_folder = folder.parent / ("long" * 30) / "postgres"
    long_folder.parent.mkdir()
    subprocess.run(["cp", "-a", cluster_template, long_folder], check=True)

    url = postgres.ensure_running(long_folder, durable=False)
    sockets = postgres_layout.find_host(long_folder).sockets
    try:
        assert answers(url)
        assert stat.S_IMODE(sockets.stat().st_mode) == 0o700
        assert len(bytes(sockets)) < 60
    finally:
        postgres.release(long_folder)
        shutil.rmtree(sockets)


def test_foreign_socket_folder_is_refused(folder, cluster_template):
    long_folder = folder.parent / ("long" * 30) / "postgres"
    long_folder.parent.mkdir()
    subprocess.run(["cp", "-a", cluster_template, long_folder], check=True)
    sockets = postgres_layout.find_host(long_folder).sockets
    sockets.symlink_to(folder.parent)

    try:
        with pytest.raises(postgres.PostgresUnavailable, match="is not a private folder"):
            postgres.ensure_running(long_folder)
    finally:
        sockets.unlink()
        postgres.release(long_folder)


@as_root
def test_private_folder_keeps_its_permissions(folder, monkeypatch):
    monkeypatch.setattr(postgres_layout, "SHARED_ROOT", folder.parent / "shared")
    home = folder.parent / "home"
    home.mkdir(mode=0o700)
    inside = home / "checkout" / "var" / "postgres"

    url = postgres.ensure_running(inside, durable=False)

    assert answers(url)
    assert str(folder.parent / "shared") in url.replace("%2F", "/")
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert not inside.exists()
    assert postgres.release(inside) is True


@as_root
def test_programs_in_a_private_folder_are_copied_once_and_run_beside_data_where_it_belongs(
    folder, monkeypatch
):
    shared = folder.parent / "one" / "shared"
    monkeypatch.setattr(postgres_layout, "SHARED_ROOT", shared)
    home = folder.parent / "home"
    home.mkdir(mode=0o700)
    programs = postgres_layout.installed_programs()
    (home / "packages").symlink_to(programs.parents[2])
    monkeypatch.setattr(
        postgres_layout,
        "installed_programs",
        lambda: home / "packages" / programs.relative_to(programs.parents[2]),
    )
    before = os.umask(0o077)
    try:
        url = postgres.ensure_running(folder, durable=False)
    finally:
        os.umask(before)

    assert answers(url)
    assert (folder / "PG_VERSION").exists()
    assert [path.name for path in shared.iterdir()] == ["postgresql"]
    assert not any(path.stat().st_mode & 0o022 for path in shared.rglob("*") if not path.is_symlink())
    assert stat.S_IMODE(home.stat().st_mode) == 0o700


@as_root
def test_private_checkouts_share_programs_and_no_data(folder, monkeypatch):
    monkeypatch.setattr(postgres_layout, "SHARED_ROOT", folder.parent / "shared")
    checkouts = [folder.parent / name for name in ("one", "two")]
    for checkout in checkouts:
        checkout.mkdir(mode=0o700)
    first, second = (postgres_layout.find_host(checkout / "postgres") for checkout in checkouts)

    assert first.programs == second.programs
    assert first.data != second.data


@as_root
@pytest.mark.parametrize("is_private", [True, False])
def test_unusable_shared_folder_is_refused_with_the_variable_to_set(folder, monkeypatch, is_private):
    home = folder.parent / "home"
    home.mkdir(mode=0o700)
    (home / "file").write_text("")
    monkeypatch.setattr(postgres_layout, "SHARED_ROOT", home / ("shared" if is_private else "file"))

    with pytest.raises(postgres.PostgresUnavailable, match="set FULFILLMENT_SHARED to a folder that every"):
        postgres.ensure_running(home / "var" / "postgres")
    assert stat.S_IMODE(home.stat().st_mode) == 0o700


@as_root
@pytest.mark.parametrize(
    ("place", "mode", "owner"), [("", 0o777, 0), ("", 0o755, 1), ("postgresql", 0o755, 1)]
)
def test_shared_folder_that_others_may_write_to_is_refused(folder, monkeypatch, place, mode, owner):
    shared = folder.parent / "shared"
    monkeypatch.setattr(postgres_layout, "SHARED_ROOT", shared)
    (shared / place).mkdir(parents=True)
    (shared / place).chmod(mode)
    os.chown(shared / place, owner, owner)

    with pytest.raises(postgres.PostgresUnavailable, match="other users may write there"):
        postgres_layout._make_reachable(
            pwd.getpwnam("nobody"), Path("/root/programs"), Path("/root/var/postgres")
        )


@as_root
def test_root_runs_the_server_as_the_owner_of_the_checkout(folder):
    nobody = pwd.getpwnam("nobody")
    checkout = folder.parent / "checkout"
    checkout.mkdir()
    os.chown(checkout, nobody.pw_uid, nobody.pw_gid)
    data = checkout / "var" / "postgres"

    postgres.ensure_running(data, durable=False)

    assert postgres.release(data) is True
    owners = {path.stat().st_uid for path in (data.parent, data, *data.parent.iterdir())}
    assert owners == {nobody.pw_uid}


def test_broken_cluster_is_created_again_only_without_durability(cluster):
    (cluster / "global" / "pg_control").write_bytes(b"")

    with pytest.raises(postgres.PostgresUnavailable, match=r"did not start in .*pg_control"):
        postgres.ensure_running(cluster)
    assert answers(postgres.ensure_running(cluster, durable=False))


def test_cluster_of_another_version_is_refused(cluster):
    (cluster / "PG_VERSION").write_text("17\n")

    with pytest.raises(postgres.PostgresUnavailable, match="made by PostgreSQL 17 and this is 18"):
        postgres.ensure_running(cluster)


@as_root
def test_cluster_of_another_user_is_refused(cluster, monkeypatch):
    monkeypatch.setattr(postgres_layout, "server_user", lambda folder: pwd.getpwnam("nobody"))

    with pytest.raises(postgres.PostgresUnavailable, match="belongs to another user"):
        postgres.ensure_running(cluster)


def test_full_disk_is_reported(folder, monkeypatch):
    monkeypatch.setattr(
        postgres.shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(100, 100, 5 << 20)
    )

    with pytest.raises(postgres.PostgresUnavailable, match=r"Only 5 MB are free in .* needs 200 MB"):
        postgres.ensure_running(folder)


def test_folder_that_cannot_be_made_is_reported(folder):
    folder.parent.joinpath("file").write_text("")

    with pytest.raises(postgres.PostgresUnavailable, match=r"cannot keep its data in .*Not a directory"):
        postgres.ensure_running(folder.parent / "file" / "postgres")


def test_path_that_a_shell_would_change_is_refused(folder):
    with pytest.raises(postgres.PostgresUnavailable, match="move it to a path without"):
        postgres.ensure_running(folder.parent / "pay$me")
