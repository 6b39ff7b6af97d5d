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
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest

from tests.support.patience import wait_for
from tests.support.servers.ports import free_port

ROOT = Path(__file__).parents[3]
START_SECONDS = 180
NOBODY = 65534
CAP_SYS_ADMIN = 21
PASS_ON = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="looks at processes in /proc"),
]


@pytest.fixture(scope="module")
def var() -> Iterator[Path]:
    """The folder of one development environment, in which `service` runs: private, and with an unusual name."""
    for folder in new_folder():
        private = folder / "Größe mit Raum"
        private.mkdir(mode=0o700)
        yield private


@pytest.fixture(scope="module")
def quiet_var() -> Iterator[Path]:
    """That of an ordinary user, if possible, in which nothing runs between tests."""
    for folder in new_folder():
        if can_run_as_nobody():
            os.chown(folder, NOBODY, NOBODY)
        yield folder


def can_run_as_nobody() -> bool:
    """Where Python, its packages and the checkout are readable for other users."""
    command = [*AS_NOBODY, sys.executable, "-c", "import granian, fulfillment"]
    is_root = os.geteuid() == 0 and shutil.which("setpriv")
    return bool(is_root) and subprocess.run(command, cwd=ROOT, capture_output=True).returncode == 0


# The shell has no rights of root left; setpriv itself could still start a program in a private folder.
AS_NOBODY = (
    *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
    *("sh", "-c", 'exec "$0" "$@"'),
)
# As root is in a container.
AS_LESSER_ROOT = ("setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin")


def as_owner(var: Path) -> tuple[str, ...]:
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        return ()
    return AS_NOBODY if var.stat().st_uid == NOBODY else AS_LESSER_ROOT


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
    plain = {"PATH": os.environ["PATH"], "HOME": str(var)}
    # Granian writes a process title where setproctitle is installed, over the variables `processes_of` reads.
    plain["SPT_NOENV"] = "1"
    plain |= {
        "FULFILLMENT_VAR": str(var),
        "FULFILLMENT_SHARED": str(var.parent / "shared"),
        "WEB_WORKERS": "1",
        "CLIENT_DOWNLOADS": str(var / "clients"),
    }
    return plain | {"MEDIA_ROOT": str(var / "media")} | more


@dataclass(frozen=True)
class Process:
    """What /proc said of it at one moment: it may have ended since."""

    number: int
    command: bytes
    user: int
    groups: str


def processes_of(var: Path) -> list[Process]:
    """Every process started with this folder, or inside it as the database is."""
    pids = []
    for folder in Path("/proc").glob("[0-9]*"):
        # It may end between two reads; what can be read of one that has ended is empty.
        with contextlib.suppress(OSError):
            inside = folder.joinpath("cwd").readlink().is_relative_to(var)
            if inside or bytes(var) in folder.joinpath("environ").read_bytes():
                command = folder.joinpath("cmdline").read_bytes()
                groups = re.search(r"Groups:(.*)", folder.joinpath("status").read_text())
                user = folder.stat().st_uid
                if command and groups:
                    pids.append(Process(int(folder.name), command, user, groups[1].strip()))
    return pids


def wait_for_silence(var: Path) -> None:
    deadline = time.monotonic() + 20
    while remaining := processes_of(var):
        assert time.monotonic() < deadline, remaining
        time.sleep(0.1)


class Run:
    """A started `manage.py up` whose output goes to a file, as a terminal never blocks it."""

    def __init__(self, var: Path, *prefix: str, **more: str) -> None:
        self.port = int(more.get("PORT") or free_port())
        # Another run on the same port must not share the file: the first one still writes.
        self.log = var / f"run-{time.monotonic_ns()}.log"
        command = [*as_owner(var), *prefix, sys.executable, "manage.py", "up"]
        command += ["--end-with-parent"] if prefix else []
        variables = environment(var, FULFILLMENT_MODE="development", **{"PORT": str(self.port)} | more)
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                umask=0o077,
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
    run = Run(var, CLIENT_DOWNLOADS="", npm_config_offline="true").wait_for_card()
    yield run
    if run.process.poll() is None:
        run.end(signal.SIGINT)


def test_card_names_what_answers(service):
    lines = service.output().splitlines()
    addresses = dict(re.findall(r"^  (\w[\w ]*\w) +(http\S+)$", service.output(), re.MULTILINE))
    curl = next(line for line in lines if line.startswith("curl "))

    assert list(addresses) == [
        "Developer portal",
        "API",
        "API reference",
        "Operator console",
        "Development mail",
    ]
    assert addresses["API"] == f"http://127.0.0.1:{service.port}/api/v1"
    assert any(re.fullmatch(r"  Operator +operator / \S+", line) for line in lines)
    assert not any("\x1b" in line for line in lines)
    if shutil.which("curl"):
        response = subprocess.run([*shlex.split(curl), "-sS", "--fail"], capture_output=True, text=True)
        assert (response.returncode, response.stderr) == (0, "")
        assert json.loads(response.stdout)["StoreID"]


def demo_of(var: Path) -> dict[str, Any]:
    command = [*as_owner(var), sys.executable, "manage.py", "demo", "--json"]
    result = subprocess.run(command, cwd=ROOT, env=environment(var), capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    return dict(json.loads(result.stdout))


def stores_seen_by(demo: dict[str, Any], port: int) -> tuple[int, bytes]:
    user = demo["user"]
    headers = {
        "Authorization": f"Bearer {user['access_token']}",
        "Ocp-Apim-Subscription-Key": user["subscription_key"],
    }
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/api/v1/store", headers=headers)
    response = connection.getresponse()
    answer = response.status, response.read()
    connection.close()
    return answer


def test_command_in_another_terminal_uses_the_running_service(service, var):
    demo = demo_of(var)

    assert demo["base_url"] == f"http://127.0.0.1:{service.port}/api/v1"
    status, stores = stores_seen_by(demo, service.port)
    assert (status, bool(json.loads(stores))) == (200, True)


def test_environment_is_kept_private(service, var):
    assert stat.S_IMODE((var / "development.env").stat().st_mode) == 0o600


def test_second_start_of_a_checkout_names_the_first(service, var):
    secrets = (var / "development.env").read_bytes()
    run = Run(var)

    assert run.process.wait(30) == 1
    assert run.output() == (
        f"This checkout is already running, as http://127.0.0.1:{service.port} (process {service.process.pid}); "
        "end that one, or start another checkout.\n"
    )
    assert (var / "development.env").read_bytes() == secrets


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs PostgreSQL as another user")
def test_private_folder_of_root_stays_as_it_was(service, var):
    data = [path for path in var.parent.joinpath("shared").glob("*/postgres") if path.is_dir()]
    status = Path(f"/proc/{service.process.pid}/status").read_text()

    assert not int(re.search(r"CapEff:\s*(\w+)", status)[1], 16) >> CAP_SYS_ADMIN & 1
    assert stat.S_IMODE(var.stat().st_mode) == 0o700
    assert not (var / "postgres").exists()
    assert [stat.S_IMODE(path.stat().st_mode) for path in data] == [0o700]


def test_nothing_is_written_after_the_card(service, var):
    before = service.output()
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=10)
    connection.request("GET", "/accounts/password-reset/")
    page = connection.getresponse()
    cookie = page.getheader("Set-Cookie").split(";")[0]
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.read().decode())[1]
    form = urlencode({"csrfmiddlewaretoken": token, "email": "operator@demo.example"})
    headers = {"Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded"}
    connection.request("POST", "/accounts/password-reset/", form, headers)
    connection.getresponse().read()
    connection.close()

    wait_for(lambda: any("password-reset" in mail.read_text() for mail in (var / "log" / "mail").iterdir()))
    assert service.output() == before
    assert re.search(rf"^  Logs and mail +{var}/log$", before, re.MULTILINE)
    assert {path.name for path in (var / "log").iterdir()} == {"mail", "web.log", "worker.log", "clients.log"}
    assert stat.S_IMODE((var / "log").stat().st_mode) == 0o700


def test_client_library_can_be_downloaded_soon_after_the_card(service):
    def content(address: str) -> bytes:
        with urlopen(address, timeout=10) as response:
            return response.read()

    page = f"http://127.0.0.1:{service.port}/clients"
    match = wait_for(lambda: re.search(rb"pip install (http://[^<]+\.whl)", content(page)))
    assert content(match[1].decode())[:2] == b"PK"


def test_pictures_of_orders_are_there_soon_after_the_card(service, var):
    def drawn(name: str) -> list[Path]:
        return list((var / "media" / "print-files").rglob(name))

    wait_for(lambda: len(drawn("*-small-0.png")) == len(drawn("*.pdf")) > 20)


def test_taken_port_is_reported(service, quiet_var):
    run = Run(quiet_var, PORT=str(service.port))

    assert run.process.wait(30) == 1
    assert run.output() == (
        f"Port {service.port} on 127.0.0.1 is taken; end the program that uses it or choose another port, for "
        f"example: make run PORT={service.port + 1}.\n"
    )


def test_ordinary_user_runs_another_checkout_beside_it(service, var, quiet_var):
    """It shares no data, and its killed run leaves nothing in the way of one that ends with its make."""
    killed = Run(quiet_var).wait_for_card()
    theirs, ours = demo_of(var), demo_of(quiet_var)
    secrets = (quiet_var / "development.env").read_text()

    user, users = quiet_var.stat().st_uid, {process.user for process in processes_of(quiet_var)}
    seen = [stores_seen_by(demo, port)[0] for demo in (theirs, ours) for port in (service.port, killed.port)]
    assert seen == [200, 401, 401, 200]
    killed.end(signal.SIGKILL)

    run = Run(quiet_var, sys.executable, "-c", PASS_ON, PORT=str(killed.port)).wait_for_card()

    assert (quiet_var / "development.env").read_text() == secrets
    run.end(signal.SIGKILL)
    wait_for_silence(quiet_var)
    if user == 0:
        pytest.skip("Here root ran it: other users may not read Python or the checkout.")
    assert users == {user}


def test_ctrl_c_ends_everything(service, var):
    """The last of those that use this service."""
    assert service.end(signal.SIGINT) == 0

    assert "Traceback" not in service.output()
    wait_for_silence(var)


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
    assert run.output().endswith(
        f"The web server ended by itself (exit code -9); the reason is in {quiet_var}/log/web.log.\n"
    )
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
        ({"FULFILLMENT_MODE": "production"}, r"DATABASE_URL is missing; set it"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_refusal_is_one_sentence(quiet_var, variables, sentence):
    given = {name: value.format(var=quiet_var) for name, value in variables.items()}
    command = [sys.executable, "manage.py", "up"]
    variables = environment(quiet_var, FULFILLMENT_MODE="development", PORT=str(free_port())) | given
    result = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=60)

    assert result.returncode in {1, 2}
    assert "Traceback" not in result.stderr
    assert re.search(sentence, result.stderr.splitlines()[-1]), result.stderr
    wait_for_silence(quiet_var)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs PostgreSQL as another user")
def test_root_without_a_place_for_postgresql_gets_the_variables_to_set(quiet_var):
    private = quiet_var / "private"
    private.mkdir(mode=0o700)
    variables = environment(private, FULFILLMENT_MODE="development", FULFILLMENT_SHARED="/dev/null/shared")
    elsewhere = variables | {"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/nothing"}

    refused, tried = (
        subprocess.run(
            [sys.executable, "manage.py", "up", "--port", str(free_port())],
            cwd=ROOT,
            env=each,
            capture_output=True,
            text=True,
            timeout=60,
        ).stderr
        for each in (variables, elsewhere)
    )

    assert re.fullmatch(
        r"PostgreSQL runs as the user \w+, who may not enter this checkout, and /dev/null/shared cannot take it .*; "
        r"set FULFILLMENT_SHARED to a folder that every user may enter, or DATABASE_URL to .*\n",
        refused,
    )
    assert tried.startswith("The database of DATABASE_URL does not answer")


def test_address_without_mode_is_not_mistaken_for_development(quiet_var):
    command = [sys.executable, "manage.py", "check"]
    variables = environment(quiet_var, DATABASE_URL="postgresql://nobody@127.0.0.1:1/production")
    result = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=60)

    assert result.returncode == 1
    assert result.stderr.startswith("SECRET_KEY is missing or weak")
