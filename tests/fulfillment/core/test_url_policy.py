"""Every way to write an address that is not of the public Internet, checked when saved and when connecting.

The same spellings are sent to a real listening socket, which must see nothing of them.
"""

import asyncio
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address, ip_network

import pytest
from aiohttp.abc import AbstractResolver

from applications.webhooks.sending.client import EndpointClient
from fulfillment.core.http.outgoing import url_policy
from fulfillment.core.http.outgoing.url_policy import is_public, may_connect, refusal
from tests.support.servers.webhook_receiver import Receiver, receiving

# All of them end at this machine, or would on some system, were they followed.
LOOPBACK = [
    "127.0.0.1",
    "127.0.0.2",
    "127.255.255.254",
    "127.1",
    "127.0.1",
    "0",
    "0.0.0.0",
    "2130706433",
    "0x7f000001",
    "0X7F000001",
    "0x7f.1",
    "0x7f.0x0.0x0.0x1",
    "017700000001",
    "0177.0.0.1",
    "0177.0.0.01",
    "00000177.0.0.1",
    "127.0.0.1.",
    "127.0.0.0x1",
    "127.00.00.01",
    "6425673729",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "\uff11\uff12\uff17.0.0.1",
    "\u2460\u2461\u2466.0.0.1",
    "127\u30020\u30020\u30021",
    "127\uff0e0\uff0e0\uff0e1",
    "127%2e0%2e0%2e1",
    "%31%32%37.0.0.1",
    "l\u00f4calhost%00.example.com",
    "[::1]",
    "[::]",
    "[0:0:0:0:0:0:0:1]",
    "[0000:0000:0000:0000:0000:0000:0000:0001]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:127.0.0.1]",
    "[::127.0.0.1]",
    "[::7f00:1]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b:1::7f00:1]",
    "[2002:7f00:1::]",
    "[2001:0:7f00:1::]",
    "[::1%25lo]",
    "[::1%251]",
    "[fe80::1%25lo]",
]
ELSEWHERE = [
    "10.0.0.1",
    "10.255.255.255",
    "0xa.0.0.1",
    "167772161",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.1",
    "192.168.257",
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "0251.0376.0251.0376",
    "[::ffff:169.254.169.254]",
    "[::ffff:a9fe:a9fe]",
    "[64:ff9b::a9fe:a9fe]",
    "[64:ff9b::10.0.0.1]",
    "[2002:a9fe:a9fe::1]",
    "[fd00:ec2::254]",
    "[fc00::1]",
    "[fe80::1]",
    "[fec0::1]",
    "[ff02::1]",
    "[2001:db8::1]",
    "[2001::1]",
    "[3fff::1]",
    "[5f00::1]",
    "[100::1]",
    "100.64.0.1",
    "192.0.0.8",
    "192.0.2.1",
    "192.88.99.1",
    "198.18.0.1",
    "198.51.100.7",
    "203.0.113.7",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
]
SPELLINGS = LOOPBACK + ELSEWHERE


@pytest.mark.parametrize("host", SPELLINGS, ids=ascii)
def test_webhook_is_not_saved_with_an_address_inside(host):
    assert refusal(f"https://{host}/events")
    assert refusal(f"https://{host}:8443/events")
    assert refusal(f"http://{host}/events")


@pytest.fixture(scope="module")
def listening():
    """On every address of this machine, in both families."""
    with receiving(Receiver(), host="0.0.0.0") as receiver:
        try:
            six = socket.create_server(("::", receiver.port), family=socket.AF_INET6, dualstack_ipv6=False)
        except OSError:
            six = None
        yield receiver, six
        if six:
            six.close()


# One client for all spellings: each client reads the certificates of the machine.
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_no_connection_reaches_an_address_inside(listening, scheme):
    receiver, six = listening

    responses = asyncio.run(post_to_each([f"{scheme}://{host}:{receiver.port}/events" for host in SPELLINGS]))

    for host, response in zip(SPELLINGS, responses, strict=True):
        assert response.status is None, host
        assert response.error, host
        assert any(reason in response.error for reason in ("Internet", "refused", "not resolve")), host
    assert receiver.connections == 0
    if six:
        six.setblocking(False)
        with pytest.raises(BlockingIOError):
            six.accept()


def test_listening_socket_would_see_a_connection(listening, settings):
    """The test above can fail: with this machine allowed, the same request arrives."""
    receiver, _ = listening
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]

    assert asyncio.run(post(f"http://127.0.0.1:{receiver.port}/ok")).status == 200
    assert asyncio.run(post(f"http://localhost:{receiver.port}/ok")).status == 200
    receiver.connections = 0


class Rebinding(AbstractResolver):
    """Says a public address first and this machine ever after, as a hostile name server does."""

    def __init__(self, *addresses: str) -> None:
        self.addresses = list(addresses)

    async def resolve(self, host, port=0, family=socket.AF_INET):
        address = self.addresses.pop(0) if len(self.addresses) > 1 else self.addresses[0]
        entry = {"hostname": host, "host": address, "port": port, "proto": 0, "flags": 0}
        return [{**entry, "family": socket.AF_INET6 if ":" in address else socket.AF_INET}]

    async def close(self) -> None:
        pass


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "::ffff:127.0.0.1", "10.0.0.1", "169.254.169.254"])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_name_that_moves_after_it_was_checked_is_not_followed(listening, monkeypatch, address, scheme):
    receiver, _ = listening
    lookup = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.43.8", 0))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *given, **more: lookup)
    url = f"{scheme}://rebind.example:{receiver.port}/events"
    if scheme == "https":
        assert refusal("https://rebind.example/events") is None

    response = asyncio.run(post(url, resolver=Rebinding(address), time_limit=3))

    assert "does not lead to a public Internet address" in response.error
    assert receiver.connections == 0


def resolve_nothing(*given, **more):
    raise socket.gaierror("unknown")


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.0.0.1",
        "::1",
        "::ffff:127.0.0.1",
        "::ffff:7f00:1",
        "::ffff:10.0.0.1",
        "::ffff:a9fe:a9fe",
    ],
)
def test_name_saved_while_it_did_not_resolve_is_refused_when_it_leads_inside(listening, monkeypatch, address):
    """Such as 127.0.0.1.nip.io, which is a name like any other while its name server is silent."""
    receiver, _ = listening
    monkeypatch.setattr(socket, "getaddrinfo", resolve_nothing)
    assert refusal("https://127.0.0.1.nip.io/events") is None

    url = f"https://127.0.0.1.nip.io:{receiver.port}/events"
    response = asyncio.run(post(url, resolver=Rebinding(address), time_limit=3))

    assert "does not lead to a public Internet address" in response.error
    assert receiver.connections == 0


@pytest.mark.parametrize(
    "target", ["http://127.0.0.2", "http://[::ffff:127.0.0.2]", "http://127.0.0.2.nip.io"]
)
def test_answer_that_redirects_inside_is_not_followed(listening, settings, target):
    receiver, _ = listening
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.1/32")]
    start = f"http://127.0.0.1:{receiver.port}/status/307?header=Location: {target}:{receiver.port}/ok"

    response = asyncio.run(post(start.replace(" ", "%20"), resolver=Rebinding("127.0.0.2"), time_limit=3))

    assert (response.status, receiver.connections) == (307, 1)
    assert "not followed" in response.error
    receiver.connections = 0


def test_name_with_one_address_inside_is_not_saved(monkeypatch):
    lookup = [
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in ("192.0.43.8", "10.0.0.1")
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *given, **more: lookup)

    message = refusal("https://mixed.example/events")

    assert message == "the host mixed.example is not an address of the public Internet."


@pytest.mark.parametrize("host", ["xn--", "xn--a", "xn--client-.example"])
def test_invalid_international_name_is_refused_in_plain_words(host):
    assert refusal(f"https://{host}/") == "it is not an address such as https://example.com/events."


SPECIAL = [
    *(
        "localhost",
        "LOCALHOST.",
        "a.localhost",
        "printer.local",
        "metadata.google.internal",
        "Metadata.Internal.",
    ),
    *("hooks.test", "hooks.invalid", "hooks.onion", "hooks", "hooks.", "xn--mnchen-3ya"),
]


@pytest.mark.parametrize("host", SPECIAL)
@pytest.mark.parametrize("address", [None, "192.0.43.8", "10.0.0.1"])
def test_special_use_host_name_is_refused_for_any_address(monkeypatch, host, address):
    def resolve(*given, **more):
        if address is None:
            raise socket.gaierror("unknown")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)

    assert str(refusal(f"https://{host}/events")).startswith(
        f"the host {host.lower()} is not a name of the public Internet."
    )


def test_special_use_name_of_a_named_network_is_saved(monkeypatch, settings):
    addresses = ["10.1.2.3"]
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda *given, **more: [(2, 1, 6, "", (address, 0)) for address in addresses]
    )
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("10.1.2.0/24")]

    assert refusal("http://hooks.internal/events") is None
    addresses.append("192.0.43.8")
    assert refusal("https://hooks.internal/events")


@pytest.mark.parametrize(
    "host", ["168.63.129.16", "[::ffff:168.63.129.16]", "0xa83f8110", "100.100.100.200", "192.0.0.192"]
)
def test_metadata_address_of_a_cloud_is_not_saved(host):
    assert refusal(f"https://{host}/events")


def test_metadata_address_behind_a_name_is_neither_saved_nor_connected_to(monkeypatch):
    lookup = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("168.63.129.16", 0))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *given, **more: lookup)

    assert refusal("https://azure.example/events")
    assert not may_connect(ip_address("168.63.129.16"), scheme="https")


def test_delivery_log_hides_the_resolved_address():
    response = asyncio.run(
        post("https://moved.example/events", resolver=Rebinding("10.20.30.40"), time_limit=3)
    )

    assert "does not lead to a public Internet address" in response.error
    assert "10.20.30.40" not in response.error


def test_name_that_does_not_resolve_now_is_saved(monkeypatch):
    monkeypatch.setattr(socket, "getaddrinfo", resolve_nothing)

    assert refusal("https://soon.example/events") is None
    assert "https" in refusal("http://soon.example/events")


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("ftp://192.0.43.8/", "it must begin with https://"),
        ("http://192.0.43.8/", "it must begin with https://"),
        ("javascript:alert(1)", "it must begin with https://"),
        ("//192.0.43.8/", "it must begin with https://"),
        ("https://user@192.0.43.8/", "user name or password"),
        ("https://user:word@192.0.43.8/", "user name or password"),
        ("https://@example.com/", "user name or password"),
        ("https://:@example.com/", "user name or password"),
        ("https://@/", "https://example.com/events"),
        ("https://192.0.43.8/#top", "fragment"),
        ("https://192.0.43.8/#", "fragment"),
        ("https://192.0.43.8\\@127.0.0.1/", "backslashes"),
        ("https://192.0.43.8/a b", "spaces"),
        ("https://192.0.43.8/\x00", "control"),
        ("https://192.0.43.8/\r\nX: y", "control"),
        ("https://192.0.43.8:99999/", "not an address"),
        ("https://192.0.43.8:0/", "not an address"),
        ("https://192.0.43.8:22/", "port 22 is not open to webhooks; use 443 or 8443"),
        ("https://hooks.nowhere-known.example:8000/", "port 8000 is not open"),
        ("https:///events", "not an address"),
        ("https://[::1/", "not an address"),
        ("https://a..example/", "not a public Internet name"),
        ("https://192.0.43.8/" + "x" * 2000, "2000"),
        ("", "https"),
    ],
    ids=ascii,
)
def test_refusal_says_what_is_wrong(url, why):
    assert why in refusal(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://192.0.43.8/events?to=a@b",
        "https://192.0.43.8/a@b",
        "https://[2620:0:2d0:200::8]/",
        "https://192.0.43.8:8443/",
    ],
)
def test_public_address_is_accepted(url):
    assert refusal(url) is None


def test_named_networks_are_accepted_over_http_and_nothing_else(settings):
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("10.1.2.0/24"), ip_network("::1/128")]

    assert refusal("http://10.1.2.3/events") is None
    assert refusal("https://[::ffff:10.1.2.3]/events") is None
    assert refusal("http://[::1]/events") is None
    assert refusal("https://10.1.3.3/events")
    assert refusal("https://127.0.0.1/events")


def test_public_is_what_the_internet_can_reach():
    assert [
        text for text in ("8.8.8.8", "1.1.1.1", "2606:4700::1111") if not is_public(ip_address(text))
    ] == []


async def post_to_each(urls):
    client = EndpointClient(time_limit=3)
    try:
        return [await client.post(url, b"{}", {}) for url in urls]
    finally:
        await client.close()


async def post(url: str, **options):
    client = EndpointClient(**options)
    try:
        return await client.post(url, b"{}", {})
    finally:
        await client.close()


@pytest.mark.parametrize("host", ["localhost", "hook.localhost", "127.0.0.1", "[::1]"])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_refused_loopback_address_names_the_setting_and_the_listener(scheme, host):
    message = str(refusal(f"{scheme}://{host}:3000/events"))

    assert "WEBHOOK_ALLOWED_NETWORKS" in message
    assert "fulfillment listen" in message


def test_other_refused_addresses_say_nothing_of_the_setting():
    assert "WEBHOOK_ALLOWED_NETWORKS" not in str(refusal("https://10.0.0.1/events"))


def test_silent_name_servers_hold_few_threads(monkeypatch):
    """Each look-up takes seconds; the others are saved unchecked, and checked when the service connects."""
    asked, answered = [], threading.Event()

    def silent(host, *options, **more):
        asked.append(host)
        answered.wait(10)
        raise OSError

    monkeypatch.setattr(url_policy.socket, "getaddrinfo", silent)
    monkeypatch.setattr(url_policy, "RESOLVE_SECONDS", 0.2)
    with ThreadPoolExecutor(8) as callers:
        futures = [
            callers.submit(refusal, f"https://b{number}.slow.example-shop.com/") for number in range(8)
        ]
        assert [future.result() for future in futures] == [None] * 8
    assert len(asked) == url_policy.RESOLVERS
    answered.set()


def test_named_network_opens_every_port(settings):
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("93.184.216.34/32")]

    assert refusal("http://93.184.216.34:9000/") is None
