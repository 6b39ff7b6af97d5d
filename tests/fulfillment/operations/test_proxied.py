"""nginx and Caddy with the files of docs/deploy, in front of the service: what they keep from it."""

import contextlib
import gzip
import http.client
import io
import itertools
import json
import os
import re
import signal
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from urllib.parse import urlsplit

import pikepdf
import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from printing.documents import MAX_DOCUMENT_BYTES
from stores.proofs.file_names import asset_file
from stores.proofs.links import ASSETS, signed_urls
from tests.support.batches.batches import access_to, make_batch
from tests.support.patience import wait_for
from tests.support.printing.document_making import document, written
from tests.support.scenario import ApiClient
from tests.support.servers.live_server import Served, serving
from tests.support.servers.ports import free_port
from tests.support.servers.processes import descendants
from tests.support.servers.proxies import (
    COMMANDS,
    HOST,
    Proxy,
    Readers,
    Response,
    head,
    new_address,
    proxied,
    read_response,
    read_responses,
)

pytestmark = pytest.mark.slow

WORKERS, THREADS = 2, 2
MANY = 10 * WORKERS * THREADS
SLOW_BODY = head(
    "POST",
    "/accounts/login/",
    Content_Length="5000",
    Content_Type="application/x-www-form-urlencoded",
    Cookie="__Host-csrf=" + "a" * 32,
)
READS_WAIT = 15
RESPAWN = ("--respawn-failed-workers", "--respawn-interval", "3", "--workers-kill-timeout", "30")


@pytest.fixture(scope="module")
def served(django_db_setup, tmp_path_factory) -> Iterator[Served]:
    with serving(
        tmp_path_factory.mktemp("service"),
        workers=WORKERS,
        threads=THREADS,
        options=RESPAWN,
        PUBLIC_URL=f"https://{HOST}",
        BEHIND_TLS_PROXY="1",
        TRUSTED_PROXIES="127.0.0.1/32",
        ACCESS_LOG="1",
        LOG_FORMAT="json",
    ) as served:
        yield served


@pytest.fixture(scope="module")
def proxies(served, tmp_path_factory) -> Iterator[dict[str, Proxy]]:
    folder, upstream = tmp_path_factory.mktemp("proxies"), urlsplit(served.url).netloc
    with contextlib.ExitStack() as stack:
        yield {name: stack.enter_context(proxied(name, folder / name, upstream)) for name in COMMANDS}


@pytest.fixture(params=COMMANDS)
def proxy(request, proxies) -> Proxy:
    return proxies[request.param]


def is_of_the_service(response: Response) -> bool:
    return "X-Request-ID" in response.headers


def assert_served(proxy: Proxy) -> None:
    """To another client, by as many pages as there are threads."""
    for _ in range(WORKERS * THREADS):
        response = proxy.get("/guide", new_address())
        assert (response.status, is_of_the_service(response)) == (200, True)


@pytest.mark.parametrize("name", COMMANDS)
def test_logs_of_errors_show_no_link_to_set_a_password(name, tmp_path):
    """The service is away, as while it restarts."""
    with proxied(name, tmp_path / name, f"127.0.0.1:{free_port()}") as alone, alone.connect() as connection:
        connection.sendall(head("POST", "/accounts/password-reset/MQ/a-secret/", Content_Length="1") + b"a")
        assert read_response(connection).status == 502

    logs = [path for path in (tmp_path / name).rglob("*") if path.is_file() and path.suffix != ".pem"]
    assert [path.name for path in logs if b"a-secret" in path.read_bytes()] == []


@pytest.mark.parametrize(
    "begun", [head("GET", "/guide")[:-4], SLOW_BODY + b"username="], ids=["head", "body"]
)
def test_slow_senders_hold_no_thread(proxy, begun):
    address = new_address()
    with contextlib.ExitStack() as stack:
        for _ in range(MANY):
            stack.enter_context(proxy.connect(address)).sendall(begun)

        assert_served(proxy)


def test_slow_readers_hold_no_thread(proxy):
    """Of the largest picture that the service stores, which is more than sockets keep."""
    identity = uuid.uuid4()
    default_storage.save(asset_file(identity, "png"), ContentFile(os.urandom(10 * 2**20)))
    path = urlsplit(signed_urls(ASSETS, identity.bytes, ["image.png"])[0]).path
    address = new_address()
    with contextlib.ExitStack() as stack:
        readers = [stack.enter_context(proxy.connect(address, buffer=4096)) for _ in range(MANY // 2)]
        for each in readers:
            each.sendall(head("GET", path))
        for each in readers:
            assert each.recv(12) == b"HTTP/1.1 200"

        assert_served(proxy)


def test_clients_that_send_no_request_are_cut_off_and_requests_without_a_service_are_answered(
    proxies, tmp_path
):
    """What waits for the proxies, all of it at once. A form is sent once, and a read is told in the end."""
    begun = {"nothing": b"", "half a head": head("GET", "/guide")[:-4], "half a body": SLOW_BODY}
    with (
        contextlib.ExitStack() as stack,
        proxied("nginx", tmp_path / "nginx", f"127.0.0.1:{free_port()}") as alone,
        ThreadPoolExecutor() as pool,
    ):
        waiting = {
            (name, what): stack.enter_context(proxy.connect(new_address()))
            for name, proxy in proxies.items()
            for what in begun
            # Caddy bounds the whole time of a body alone, which must suffice for an upload.
            if (name, what) != ("caddy", "half a body")
        }
        for (_, what), connection in waiting.items():
            connection.sendall(begun[what])
        reads = [pool.submit(alone.get, "/guide", Authorization=value) for value in ("", "Basic Og==")]
        with alone.connect() as connection:
            connection.sendall(head("POST", "/accounts/login/", Content_Length="1") + b"a")
            assert read_response(connection).status == 502

        for connection in waiting.values():
            with contextlib.suppress(OSError):
                while connection.recv(65536):
                    pass
        answers = [read.result() for read in reads]

    assert [response.status for response in answers] == [502, 502]
    assert not any("WWW-Authenticate" in response.headers for response in answers)


@pytest.mark.parametrize("path", ["/guide", "/accounts/login/", "/api/v1/store/demo/asset", "/admin/"])
def test_body_of_200_megabytes_is_refused(proxy, path):
    """By the proxy, and by the service where staff may send as much."""
    stated, chunked = [
        status_of_large_body(proxy, path, length)
        for length in ({"Content_Length": "200000000"}, {"Transfer_Encoding": "chunked"})
    ]

    # Without a stated length Caddy sends what fits. A refusal of the service may end the connection.
    by_service = {411, 413, 502}
    assert stated in (by_service if path == "/admin/" else {413})
    assert chunked in (by_service if path == "/admin/" or proxy.name == "caddy" else {413})
    assert_served(proxy)


def status_of_large_body(proxy: Proxy, path: str, length: dict[str, str]) -> int:
    block = b"a" * 1_000_000
    # nginx refuses an upload without one at its head.
    token = {"Authorization": "Bearer none"} if proxy.name == "nginx" else {}
    with proxy.connect(new_address()) as connection:
        connection.sendall(head("POST", path, **length, **token))
        # Not everything is taken of what is refused at once.
        with contextlib.suppress(OSError):
            for _ in range(200):
                frame = b"%x\r\n%s\r\n" % (len(block), block) if "Transfer_Encoding" in length else block
                connection.sendall(frame)
            if "Transfer_Encoding" in length:
                connection.sendall(b"0\r\n\r\n")
        return read_response(connection).status


def test_large_upload_without_a_token_is_told_so(proxy):
    """Each time: the end of the connection must not overtake the answer."""
    content = os.urandom(20_000_000)
    headers = {"Content_Length": str(len(content)), "Ocp_Apim_Subscription_Key": "key"}
    for _ in range(4):
        with proxy.connect(new_address()) as connection:
            connection.sendall(head("POST", "/api/v1/store/demo/asset", **headers))
            with contextlib.suppress(OSError):
                connection.sendall(content)
            response = read_response(connection)

        assert (response.status, json.loads(response.body)["Code"]) == (401, "token_missing")
        assert response.headers["WWW-Authenticate"].startswith("Bearer")


@pytest.fixture(scope="module")
def large_pdf() -> bytes:
    with pikepdf.open(io.BytesIO(document())) as pdf:
        noise = os.urandom(3 * 1850 * 1850)
        for number in range(10):
            image = pikepdf.Stream(pdf, noise, Subtype=pikepdf.Name.Image)
            image.Width = image.Height = 1850
            image.BitsPerComponent, image.ColorSpace = 8, pikepdf.Name.DeviceRGB
            image.Filter = pikepdf.Name.DCTDecode
            pdf.pages[0].add_resource(image, pikepdf.Name.XObject, f"/Im{number}")
        content = written(pdf, compress_streams=False)
    assert 100_000_000 < len(content) < MAX_DOCUMENT_BYTES
    return content


def sent(proxy: Proxy, client: ApiClient, address: str, media_type: str, content: bytes) -> Response:
    with proxy.connect(new_address()) as connection:
        connection.sendall(
            head(
                *address.split(),
                Content_Length=str(len(content)),
                Content_Type=media_type,
                Authorization=f"Bearer {client.token}",
                Ocp_Apim_Subscription_Key=client.key,
            )
        )
        with contextlib.suppress(OSError):
            connection.sendall(content)
        return read_response(connection)


@pytest.mark.django_db(transaction=True)
def test_pdf_of_100_megabytes_goes_to_assets_alone(proxy, world, large_pdf):
    client = world.as_application()

    asset, order = (
        sent(proxy, client, f"POST /api/v1/store/associated/{path}", "application/pdf", large_pdf)
        for path in ("asset", "order")
    )

    assert (asset.status, is_of_the_service(asset)) == (201, True)
    assert (order.status, is_of_the_service(order)) == (413, False)


@pytest.mark.django_db(transaction=True)
def test_file_of_rows_of_40_megabytes_reaches_the_service(proxy, world):
    client, content = world.as_application(), b"a" * 40_000_000
    path = f"/api/v1/store/associated/batch/{make_batch(access_to(world)).pk}/rows"

    response = sent(proxy, client, f"PUT {path}", "text/csv", content)

    assert (response.status, is_of_the_service(response)) == (400, True)


def test_headers_of_64_kilobytes_are_refused(proxy):
    response = proxy.get(
        "/guide", new_address(), **{f"X-Header-{number}": "a" * 4000 for number in range(16)}
    )

    assert response.status in (400, 431)
    assert not is_of_the_service(response)
    assert_served(proxy)


def test_the_longest_address_of_the_service_passes(proxy):
    response = proxy.get(f"/guide?q={'a' * 16_000}", new_address(), Cookie="a" * 8000, X_Other="b" * 7000)

    assert (response.status, is_of_the_service(response)) == (200, True)


def test_500_idle_connections_of_an_address_delay_no_other(proxy):
    address = new_address()
    with contextlib.ExitStack() as stack:
        for _ in range(500):
            stack.enter_context(proxy.connect_plainly(address))

        assert_served(proxy)
        assert proxy.get("/guide", address).status == 200


def test_pipelined_requests_are_answered_in_order(proxy):
    wanted = ["/guide", "/nothing", "/healthz", "/accounts/login/", "/api/v1/user/self"] * 4
    with proxy.connect(new_address()) as connection:
        connection.sendall(b"".join(head("GET", path) for path in wanted))
        answers = list(itertools.islice(read_responses(connection), len(wanted)))

    assert [response.status for response in answers] == [200, 404, 200, 200, 401] * 4


def test_requests_with_two_lengths_smuggle_no_other(proxy, served):
    """What the proxy takes for a body the service must not take for a request."""
    hidden, answers = f"/{uuid.uuid4()}", []
    body = b"0\r\n\r\n" + head("GET", hidden, Connection="close")
    both = head("POST", "/guide", Content_Length=str(len(body)), Transfer_Encoding="chunked")
    with proxy.connect(new_address()) as connection, contextlib.suppress(OSError, http.client.HTTPException):
        connection.sendall(both + body)
        answers.extend(response.status for response in read_responses(connection))
    assert_served(proxy)

    # Taken for a request by both, it is answered to its own client.
    assert sum(hidden in line["message"] for line in access_lines(served)) == len(answers) - 1


def test_claims_of_clients_do_not_reach_the_service(proxy, served):
    address, marked = new_address(), f"/{uuid.uuid4()}"
    claims = {
        name: value
        for value, names in {
            "203.0.113.9": ("X-Forwarded-For", "X_Forwarded_For", "X-Real-IP"),
            "http": ("X-Forwarded-Proto", "X_Forwarded_Proto"),
            "evil.example": ("X-Forwarded-Host", "X_Forwarded_Host"),
            "for=203.0.113.9;proto=http;host=evil.example": ("Forwarded",),
        }.items()
        for name in names
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in claims.items())
    with proxy.connect(address) as connection:
        connection.sendall(head("GET", marked)[:-2] + f"{lines}\r\n".encode())
        response = read_response(connection)

    # Over http it would have been sent to https.
    assert response.status == 404
    assert b"evil.example" not in response.body
    [line] = wait_for(
        lambda: [line for line in access_lines(served) if marked in line["message"]], seconds=30
    )
    assert line["address"] == address


def access_lines(served: Served) -> list[dict[str, str]]:
    return [json.loads(line) for line in served.log.read_text().splitlines() if line.startswith("{")]


def test_proxies_compress_nothing(proxy):
    """The service compresses pages, with a random length; what programs read holds keys and is never compressed."""
    for path in ("/.well-known/oauth-authorization-server", "/api/v1/user/self", "/healthz", "/oauth/token"):
        response = proxy.get(path, new_address(), Accept_Encoding="gzip, br, zstd, deflate")
        assert response.body
        assert "Content-Encoding" not in response.headers, path
    pages = [proxy.get("/accounts/login/", new_address(), Accept_Encoding="gzip") for _ in range(8)]

    assert {page.headers.get("Content-Encoding") for page in pages} == {"gzip"}
    assert len({len(page.body) for page in pages}) > 1
    assert all(b"csrfmiddlewaretoken" in gzip.decompress(page.body) for page in pages)


def test_proxies_speak_http_1_alone(proxy):
    """One HTTP/2 connection can send and cancel any number of requests, and connections.nft counts none of HTTP/3."""
    browser = replace(proxy)
    browser.trusted.set_alpn_protocols(["h2", "http/1.1"])
    with browser.connect(new_address()) as connection:
        assert connection.selected_alpn_protocol() == "http/1.1"
        connection.sendall(head("GET", "/guide"))
        assert "Alt-Svc" not in read_response(connection).headers


def test_https_is_required_and_remembered(proxy):
    with proxy.connect_plainly(new_address(), port=proxy.http) as connection:
        connection.sendall(head("GET", "/guide?a=1", X_Forwarded_Proto="https"))
        redirected = read_response(connection)
    assert redirected.status == 308
    assert re.sub(rf":{proxy.https}\b", "", redirected.headers["Location"]) == f"https://{HOST}/guide?a=1"

    for path in ("/guide", "/api/v1/user/self", "/static/brand/mark.svg", "/nothing"):
        response = proxy.get(path, new_address())
        assert response.headers.get_all("Strict-Transport-Security") == ["max-age=3600"], path


def test_no_read_fails_while_the_service_is_reloaded(proxies, served):
    before = set(descendants(served.process.pid))

    def is_replaced() -> bool:
        now = set(descendants(served.process.pid))
        return min(len(before - now), len(now - before)) >= WORKERS

    with Readers(*proxies.values()) as readers:
        os.kill(served.process.pid, signal.SIGHUP)
        wait_for(is_replaced)

    assert [set(counts) for counts in readers.answers.values()] == [{"200"}] * len(proxies)


def test_reads_wait_for_a_service_that_restarts(proxies, served):
    with Readers(*proxies.values()) as readers:
        began = time.monotonic()
        served.restart()
        seconds = time.monotonic() - began
        before = readers.answers["nginx"]["200"]
        wait_for(lambda: readers.answers["nginx"]["200"] > before)

    if seconds > READS_WAIT:
        pytest.skip(f"The restart took {seconds:.0f} s beside other work; reads wait for {READS_WAIT}.")
    assert [set(counts) for counts in readers.answers.values()] == [{"200"}] * len(proxies)
