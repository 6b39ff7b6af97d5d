"""How much nginx.conf and connections.nft let one address do. nginx alone counts: what passes is answered by 502."""

import contextlib
import itertools
import re
import shlex
import socket
import ssl
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator

import pytest

from printing.documents import MAX_DOCUMENT_BYTES
from stores.batches.files.reading import MAX_BATCH_FILE_BYTES
from stores.catalog.services.uploads import UPLOAD_BYTES
from stores.proofs.services.assets import MAX_PICTURE_BYTES
from tests.support.servers.proxies import (
    DEPLOY,
    Proxy,
    Response,
    head,
    new_address,
    proxied,
    read_response,
    read_responses,
    require_program,
)

pytestmark = pytest.mark.slow

REFUSED, PASSED = 429, 502
ANSWER = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"
SIZE_OF_LOCATION = re.compile(
    r"location (\S+ ?\S*) \{(?:(?!\n    \}).)*?client_max_body_size (\d+)m;", re.DOTALL
)
PEOPLE = 200
BATCH = 50
# A page, the page of the second factor, and the form of each.
SIGN_IN = ["/accounts/login/", "/accounts/second-step/"] * 2
FIRST_PAGE = ["/catalog/demo", *["/static/brand/mark.svg"] * 14]
MEGABYTE = 2**20
# Says how many connections of one address succeed until one is refused, and then of another address. Each is kept, or
# closed before the next.
CONNECT = """
import resource, socket, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (8192, 8192))
server = socket.create_server(("127.0.0.1", 443), backlog=4096)
kept = []
for address, most in (("127.0.0.2", int(sys.argv[2])), ("127.0.0.3", 10)):
    succeeded = 0
    try:
        while succeeded < most:
            kept.append(socket.create_connection(("127.0.0.1", 443), 0.5, (address, 0)))
            succeeded += 1
            if sys.argv[1] == "closed":
                kept.pop().close()
                server.accept()[0].close()
    except TimeoutError:
        pass
    print(succeeded)
"""


@pytest.fixture(scope="module")
def nginx(tmp_path_factory) -> Iterator[Proxy]:
    """In front of what answers each head with 502 at once. A port at which nothing listens would let reads wait."""
    with socket.create_server(("127.0.0.1", 0), backlog=1000) as server:
        threading.Thread(target=answer_all, args=(server,), daemon=True).start()
        upstream = f"127.0.0.1:{server.getsockname()[1]}"
        with proxied("nginx", tmp_path_factory.mktemp("limits") / "nginx", upstream) as proxy:
            yield proxy


def answer_all(server: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while True:
            threading.Thread(target=answer, args=(server.accept()[0],), daemon=True).start()


def answer(connection: socket.socket) -> None:
    with contextlib.suppress(OSError), connection:
        while received := connection.recv(MEGABYTE):
            connection.sendall(ANSWER * received.count(b"\r\n\r\n"))


@pytest.fixture(scope="module")
def held(tmp_path_factory) -> Iterator[Proxy]:
    """In front of a service that takes every request and answers none."""
    with socket.create_server(("127.0.0.1", 0), backlog=1000) as silent:
        upstream = f"127.0.0.1:{silent.getsockname()[1]}"
        with proxied("nginx", tmp_path_factory.mktemp("held") / "nginx", upstream) as proxy:
            yield proxy


def request_all(proxy: Proxy, address: str, paths: list[str], **headers: str) -> list[Response]:
    answers: list[Response] = []
    for batch in (paths[start : start + BATCH] for start in range(0, len(paths), BATCH)):
        with proxy.connect(address) as connection:
            connection.sendall(b"".join(head("GET", path, **headers) for path in batch))
            answers += itertools.islice(read_responses(connection), len(batch))
    return answers


def request_until_refused(proxy: Proxy, address: str, path: str, **headers: str) -> list[Response]:
    """All answers; nginx is quicker than the rate of any limit."""
    answers: list[Response] = []
    while len(answers) < 20_000:
        answers += request_all(proxy, address, [path] * BATCH, **headers)
        if any(response.status == REFUSED for response in answers[-BATCH:]):
            return answers
    raise AssertionError(f"{len(answers)} requests passed")


def statuses(answers: list[Response]) -> Counter[int]:
    return Counter(response.status for response in answers)


@pytest.mark.parametrize(
    "path",
    [
        "/guide",
        "/admin/",
        "/api/v1/docs",
        "/accounts/login/",
        "/admin/login/",
        "/oauth/token",
        "/static/brand/mark.svg",
        "/production/postback/press/secret",
    ],
)
def test_requests_of_one_address_are_limited(nginx, path):
    answers = request_until_refused(nginx, new_address(), path)

    assert statuses(answers)[PASSED] >= 2 * PEOPLE
    assert nginx.get(path, new_address()).status == PASSED


def test_a_refusal_says_when_to_try_again(nginx):
    answers = request_until_refused(nginx, new_address(), "/oauth/token")
    refused = [response for response in answers if response.status == REFUSED]

    assert {response.headers["Retry-After"] for response in refused} == {"1"}
    assert all(b"Try again in a second" in response.body for response in refused)


@pytest.mark.parametrize(
    "paths",
    [["/"] * 2, SIGN_IN[:2], FIRST_PAGE, ["/oauth/token"] * 2, ["/api/v1/store"] * 20],
    ids=["pages", "sign-in", "first page", "tokens", "API"],
)
def test_200_people_of_an_office_do_so_in_the_same_moment(nginx, paths):
    answers = request_all(nginx, new_address(), paths * PEOPLE)

    assert statuses(answers) == {PASSED: len(paths) * PEOPLE}


def test_limits_of_one_kind_leave_the_others(nginx):
    address = new_address()
    request_until_refused(nginx, address, "/guide")

    for path in (
        "/static/brand/mark.svg",
        "/api/v1/store",
        "/accounts/login/",
        "/oauth/token",
        "/proofs/a/b.png",
    ):
        assert nginx.get(path, address).status == PASSED, path


def test_a_network_of_ipv6_counts_as_one_address(nginx):
    def refusals(address: str) -> int:
        answers = request_all(nginx, "127.9.9.9", ["/guide"] * BATCH, X_Address_Of_Test=address)
        return statuses(answers)[REFUSED]

    request_until_refused(nginx, "127.9.9.9", "/guide", X_Address_Of_Test="2001:db8:0:1::1")

    assert refusals("2001:db8:0:1:ffff::2")
    assert not refusals("2001:db8:0:2::1")


@pytest.mark.parametrize(
    ("path", "most"),
    [
        ("/guide", 40),
        ("/accounts/login/", 20),
        ("/oauth/token", 20),
        ("/api/v1/store", 200),
        ("/assets/token/artwork.pdf", 40),
        ("/proofs/token/card.pd%66", 40),
    ],
)
def test_requests_at_the_same_time_are_limited(held, path, most):
    address = new_address()
    with contextlib.ExitStack() as stack:
        waiting = [stack.enter_context(held.connect(address)) for _ in range(most)]
        for connection in waiting:
            connection.sendall(head("GET", path))
        refused = held.get(path, address)

        assert refused.status == REFUSED
        assert not any(is_answered(connection) for connection in waiting)


def is_answered(connection: ssl.SSLSocket) -> bool:
    connection.settimeout(0)
    with contextlib.suppress(ssl.SSLWantReadError):
        return bool(connection.recv(1))
    return False


@pytest.mark.parametrize(
    "length",
    [{"Content_Length": "20000000"}, {"Transfer_Encoding": "chunked"}, {"Transfer_Encoding": "CHUNKED"}],
)
def test_large_bodies_of_one_address_at_the_same_time_are_limited(held, length):
    address = new_address()
    with contextlib.ExitStack() as stack:
        for _ in range(8):
            stack.enter_context(held.connect(address)).sendall(head("POST", "/admin/", **length))
        with held.connect(address) as connection:
            connection.sendall(head("POST", "/admin/", **length))
            refused = read_response(connection)

    assert refused.status == REFUSED


@pytest.mark.parametrize("port", ["http", "https"])
def test_heads_that_are_not_completed_are_cut_off(nginx, port):
    with nginx.connect_plainly(new_address(), port=getattr(nginx, port)) as connection:
        connection.sendall(b"G")
        connection.settimeout(30)
        with contextlib.suppress(ConnectionResetError):
            assert connection.recv(65536) == b""


@pytest.mark.parametrize(("connections", "most"), [("kept", 1501), ("closed", 6000)])
def test_connections_of_one_address_are_limited(connections, most):
    """In a network of this test alone, by the first addresses of 127.0.0.0/8. Closed ones cost a start of TLS, too."""
    require_program("unshare", package="util-linux")
    alone = ["unshare", "--net", "sh", "-ec"]
    if subprocess.run([*alone, "nft list ruleset"], capture_output=True).returncode:
        pytest.skip("needs root and the package nftables")
    rules = f"nft -f {shlex.quote(str(DEPLOY / 'connections.nft'))}"
    program = f"{shlex.quote(sys.executable)} -c '{CONNECT}' {connections} {most}"
    steps = f"ip link set lo up; {rules}; {rules}; exec {program}"

    result = subprocess.run([*alone, steps], capture_output=True, text=True)
    one, other = map(int, result.stdout.split())

    assert 1500 <= one < most, result.stderr
    assert other == 10


def test_proof_of_the_host_is_served_without_https(nginx):
    folder = nginx.certificate.parent / ".well-known/acme-challenge"
    folder.mkdir(parents=True)
    (folder / "token").write_text("token.thumbprint")

    statuses_of = {}
    for path in ("/.well-known/acme-challenge/token", "/.well-known/acme-challenge/other", "/guide"):
        with nginx.connect_plainly(new_address(), port=nginx.http) as connection:
            connection.sendall(head("GET", path))
            response = read_response(connection)
        statuses_of[path.rpartition("/")[2]] = response.status
        if response.status == 200:
            assert response.body == b"token.thumbprint"

    assert statuses_of == {"token": 200, "other": 404, "guide": 308}


def test_sizes_are_above_those_of_the_service():
    """So that the service's own message is read, which says what is allowed."""
    text = (DEPLOY / "nginx.conf").read_text("utf-8")
    sizes = {location: int(size) * MEGABYTE for location, size in re.findall(SIZE_OF_LOCATION, text)}
    admin = next(size for location, size in sizes.items() if location == "/admin/")

    def size_for(path):
        """Of several regular expressions the first counts."""
        return next(size for location, size in sizes.items() if re.match(location.removeprefix("~ "), path))

    document, api = (size_for(f"/api/v1/store/demo/{path}") for path in ("asset", "order"))

    assert admin > UPLOAD_BYTES
    assert api > MAX_PICTURE_BYTES
    assert document > MAX_DOCUMENT_BYTES > MAX_BATCH_FILE_BYTES
    assert size_for("/api/v1/store/demo/batch/7/rows") == size_for("/batches/7/rows") == document
    assert f"max_size {document // MEGABYTE}MiB" in (DEPLOY / "Caddyfile").read_text("utf-8")
    assert f"max_size {admin // MEGABYTE}MiB" in (DEPLOY / "Caddyfile").read_text("utf-8")
    assert f"max_size {api // MEGABYTE}MiB" in (DEPLOY / "Caddyfile").read_text("utf-8")
