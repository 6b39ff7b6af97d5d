import contextlib
import http.client
import json
import os
import re
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from fulfillment.local import unprivileged
from tests.support.ports import free_port

ROOT = Path(__file__).parents[3]
START_SECONDS = 180
PASS_ON = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="looks at processes in /proc"),
]


@pytest.fixture(scope="module")
def var() -> Iterator[Path]:
    """The folder of one development environment, in which `service` runs."""
    yield from new_folder()


@pytest.fixture(scope="module")
def quiet_var() -> Iterator[Path]:
    """Another one, in which nothing runs between tests."""
    yield from new_folder()


def new_folder() -> Iterator[Path]:
    """Every user may pass through it."""
    path = Path(tempfile.mkdtemp(prefix="fulfillment-test-"))
    path.chmod(0o755)
    yield path
    for process in processes_of(path):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.number, signal.SIGKILL)
    shutil.rmtree(path)


def environment(var: Path, **more: str) -> dict[str, str]:
    plain = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    # Granian writes a process title where setproctitle is installed, over the variables `processes_of` reads.
    plain["SPT_NOENV"] = "1"
    return plain | {"FULFILLMENT_VAR": str(var), "MEDIA_ROOT": str(var / "media"), "WEB_WORKERS": "1"} | more


@dataclass(frozen=True)
class Process:
    """What /proc said of it at one moment: it may have ended since."""

    number: int
    command: bytes
    user: int
    groups: str


def processes_of(var: Path) -> list[Process]:
    """Every process started with this folder, or inside it as the database is."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        # It may end between two reads; what can be read of one that has ended is empty.
        with contextlib.suppress(OSError):
            inside = folder.joinpath("cwd").readlink().is_relative_to(var)
            if inside or bytes(var) in folder.joinpath("environ").read_bytes():
                command = folder.joinpath("cmdline").read_bytes()
                groups = re.search(r"Groups:(.*)", folder.joinpath("status").read_text())
                user = folder.stat().st_uid
                if command and groups:
                    found.append(Process(int(folder.name), command, user, groups[1].strip()))
    return found


def wait_for_silence(var: Path) -> None:
    deadline = time.monotonic() + 20
    while left := processes_of(var):
        assert time.monotonic() < deadline, left
        time.sleep(0.1)


class Run:
    """A started `manage.py up` whose output goes to a file, as a terminal never blocks it."""

    def __init__(self, var: Path, *prefix: str, **more: str) -> None:
        self.port = int(more.get("PORT") or free_port())
        # Another run on the same port must not share the file: the first one still writes.
        self.log = var / f"run-{time.monotonic_ns()}.log"
        command = [*prefix, sys.executable, "manage.py", "up", *(["--end-with-parent"] if prefix else [])]
        variables = environment(var, FULFILLMENT_MODE="development", **{"PORT": str(self.port)} | more)
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=variables, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def output(self) -> str:
        return self.log.read_text()

    def wait_for_card(self) -> "Run":
        deadline = time.monotonic() + START_SECONDS
        while "Ctrl-C ends" not in self.output():
            assert self.process.poll() is None, self.output()
            assert time.monotonic() < deadline, self.output()
            time.sleep(0.1)
        return self

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(30)


@pytest.fixture(scope="module")
def service(var: Path) -> Iterator[Run]:
    run = Run(var).wait_for_card()
    yield run
    if run.process.poll() is None:
        run.end(signal.SIGINT)


def test_card_names_what_answers(service):
    lines = service.output().splitlines()
    addresses = dict(re.findall(r"^  (\w[\w ]*\w) +(http\S+)$", service.output(), re.MULTILINE))
    curl = next(line for line in lines if line.startswith("curl "))

    assert list(addresses) == ["Developer portal", "API", "API reference", "Operator console"]
    assert addresses["API"] == f"http://127.0.0.1:{service.port}/api/v1"
    assert any(re.fullmatch(r"  Operator +operator / \S+", line) for line in lines)
    assert not any("\x1b" in line for line in lines)
    if shutil.which("curl"):
        answer = subprocess.run([*shlex.split(curl), "-sS", "--fail"], capture_output=True, text=True)
        assert (answer.returncode, answer.stderr) == (0, "")
        assert json.loads(answer.stdout)["StoreID"]


def test_command_in_another_terminal_uses_the_running_service(service, var):
    command = [sys.executable, "manage.py", "demo", "--json"]
    done = subprocess.run(command, cwd=ROOT, env=environment(var), capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")
    demo = json.loads(done.stdout)
    assert demo["base_url"] == f"http://127.0.0.1:{service.port}/api/v1"
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=10)
    user = demo["user"]
    headers = {
        "Authorization": f"Bearer {user['access_token']}",
        "Ocp-Apim-Subscription-Key": user["subscription_key"],
    }
    connection.request("GET", "/api/v1/store", headers=headers)
    response = connection.getresponse()
    assert (response.status, bool(json.loads(response.read()))) == (200, True)
    connection.close()


def test_environment_is_kept_private(service, var):
    assert stat.S_IMODE((var / "development.env").stat().st_mode) == 0o600


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has rights to drop")
def test_nothing_that_serves_runs_as_root(service, var):
    serving = [
        process
        for process in processes_of(var)
        if process.number != service.process.pid and b"postgres" not in process.command
    ]

    assert len(serving) >= 3
    (user,) = {process.user for process in serving}
    assert user != 0
    assert {process.groups for process in serving} == {""}
    assert re.search(r"Web server and worker run as (?!root)\w+\.", service.output())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has rights to drop")
def test_files_are_written_by_the_service_and_read_by_no_other_user(service, var):
    """Also one that a command in another terminal writes as root."""
    demo = subprocess.run(
        [sys.executable, "manage.py", "demo", "--json"], cwd=ROOT, env=environment(var), capture_output=True
    )
    user = json.loads(demo.stdout)["user"]
    headers = {
        "Authorization": f"Bearer {user['access_token']}",
        "Ocp-Apim-Subscription-Key": user["subscription_key"],
        "Content-Type": "application/json",
    }
    product = next(one for one in json.loads(demo.stdout)["products"] if one["has_template"])
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=30)
    path = f"/api/v1/store/{product['store_id']}/product/{product['id']}"
    connection.request("GET", path, headers=headers)
    fields = json.loads(connection.getresponse().read())["TemplateFields"]
    sample = {"Email": "ada@print.example", "Phone": "+1 555 0100", "Url": "https://print.example/"}
    values = {
        one["FieldName"]: one["DefaultValue"] or sample.get(one["SubType"], "Ada")
        for one in fields
        if one["Type"] == "Text"
    }
    connection.request("POST", f"{path}/proof", json.dumps(values), headers)
    response = connection.getresponse()
    assert response.status == 200, response.read()
    connection.close()

    written = [path for path in (var / "media").rglob("*") if path.is_file()]
    assert written
    for path in [*written, var / "media"]:
        assert path.stat().st_uid != 0
        assert not path.stat().st_mode & 0o007


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has rights to drop")
def test_root_gets_instructions_where_rights_cannot_be_dropped(monkeypatch, tmp_path):
    monkeypatch.setattr(unprivileged, "_works", lambda *arguments: False)

    with pytest.raises(unprivileged.CannotDrop, match="make run RUN_AS_ROOT=1"):
        unprivileged.find_identity(data_folder=tmp_path / "postgres", checkout=ROOT, media=tmp_path / "media")

    assert (
        unprivileged.find_identity(
            data_folder=tmp_path, checkout=ROOT, media=tmp_path, environment={"RUN_AS_ROOT": "1"}
        )
        is None
    )


def test_taken_port_is_reported(service, var):
    run = Run(var, PORT=str(service.port))

    assert run.process.wait(30) == 1
    assert run.output() == (
        f"Port {service.port} on 127.0.0.1 is taken; end the program that uses it or choose another port, for "
        f"example: make run PORT={service.port + 1}.\n"
    )


def test_killed_run_leaves_nothing_in_the_way_and_ctrl_c_ends_everything(quiet_var):
    killed = Run(quiet_var).wait_for_card()
    secrets = (quiet_var / "development.env").read_text()
    killed.end(signal.SIGKILL)

    run = Run(quiet_var, PORT=str(killed.port)).wait_for_card()

    assert (quiet_var / "development.env").read_text() == secrets
    assert run.end(signal.SIGINT) == 0
    assert "Traceback" not in run.output()
    wait_for_silence(quiet_var)


def test_run_ends_with_the_make_that_started_it(quiet_var):
    run = Run(quiet_var, sys.executable, "-c", PASS_ON).wait_for_card()

    run.end(signal.SIGKILL)

    wait_for_silence(quiet_var)


def children_with(run, word: bytes) -> list[int]:
    children = Path(f"/proc/{run.process.pid}/task/{run.process.pid}/children").read_text().split()
    return [int(each) for each in children if word in Path(f"/proc/{each}/cmdline").read_bytes()]


def test_worker_that_dies_is_replaced_and_the_end_of_the_web_server_ends_everything(quiet_var):
    run = Run(quiet_var).wait_for_card()
    (worker,) = children_with(run, b"manage.py\0worker")

    os.kill(worker, signal.SIGKILL)

    deadline = time.monotonic() + 15
    while not (set(children_with(run, b"manage.py\0worker")) - {worker}):
        assert time.monotonic() < deadline, "no other worker came"
        time.sleep(0.1)

    (server,) = children_with(run, b"granian")

    os.kill(server, signal.SIGKILL)

    assert run.process.wait(30) == 1
    assert run.output().endswith("The web server ended by itself (exit code -9); the reason is above.\n")
    wait_for_silence(quiet_var)


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        (
            {"HOST": "203.0.113.1"},
            r"The service cannot listen on 203.0.113.1:\d+ \(.*\); set HOST to an address",
        ),
        (
            {"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/nothing"},
            r"The database of DATABASE_URL does not answer \(.*\); start it, correct DATABASE_URL",
        ),
        ({"PORT": "http"}, r"the port is 'http'; write a whole number from 1 to 65535"),
        ({"FULFILLMENT_VAR": "/dev/null/var"}, r"Not a directory"),
        ({"FULFILLMENT_VAR": "{var}/pay$me"}, r"move it to a path without quotes"),
        ({"FULFILLMENT_MODE": "production"}, r"SECRET_KEY is missing or weak; set SECRET_KEY"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_refusal_is_one_sentence(quiet_var, variables, sentence):
    given = {name: value.format(var=quiet_var) for name, value in variables.items()}
    command = [sys.executable, "manage.py", "up"]
    variables = environment(quiet_var, FULFILLMENT_MODE="development", PORT=str(free_port())) | given
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=60)

    assert done.returncode in {1, 2}
    assert "Traceback" not in done.stderr
    assert re.search(sentence, done.stderr.splitlines()[-1]), done.stderr
    wait_for_silence(quiet_var)


def test_address_without_mode_is_not_mistaken_for_development(quiet_var):
    command = [sys.executable, "manage.py", "check"]
    variables = environment(quiet_var, DATABASE_URL="postgresql://nobody@127.0.0.1:1/production")
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=60)

    assert done.returncode == 1
    assert done.stderr.startswith("SECRET_KEY is missing or weak")
