from ipaddress import ip_network

import pytest
from django.http import HttpResponse
from django.test import RequestFactory

from fulfillment.site.proxies import TrustedProxies, client_address

TRUSTED = [ip_network("10.0.0.0/8"), ip_network("2001:db8::/48")]


def seen(settings, **meta):
    """What is behind the middleware of a request with these headers."""
    settings.TRUSTED_PROXIES = TRUSTED
    request = RequestFactory().get("/", **meta)
    TrustedProxies(lambda request: HttpResponse())(request)
    return request.META


@pytest.mark.parametrize(
    ("chain", "client"),
    [
        ("198.51.100.7", "198.51.100.7"),
        ("203.0.113.9, 198.51.100.7", "198.51.100.7"),
        ("203.0.113.9, 198.51.100.7, 10.2.2.2", "198.51.100.7"),
        ("198.51.100.7:51234", "198.51.100.7"),
        ("[2001:db9::1]:443", "2001:db9::1"),
        ("2001:db9::1", "2001:db9::1"),
        ("10.9.9.9", "10.9.9.9"),
        ("nonsense", "10.1.1.1"),
        ("198.51.100.7, nonsense", "10.1.1.1"),
        ("", "10.1.1.1"),
        (", ,", "10.1.1.1"),
        ("198.51.100.7, unknown, 10.2.2.2", "10.2.2.2"),
        ("1.1.1.1," * 5000 + "198.51.100.7", "198.51.100.7"),
    ],
)
def test_client_is_the_last_address_no_proxy_of_ours_has(chain, client):
    assert client_address("10.1.1.1", chain, TRUSTED) == client


def test_trusted_proxy_is_believed(settings):
    meta = seen(
        settings,
        REMOTE_ADDR="10.1.1.1",
        HTTP_X_FORWARDED_FOR="198.51.100.7",
        HTTP_X_FORWARDED_PROTO="https",
    )

    assert (meta["REMOTE_ADDR"], meta["HTTP_X_FORWARDED_PROTO"]) == ("198.51.100.7", "https")


@pytest.mark.parametrize("peer", ["192.0.2.1", "::ffff:192.0.2.1", "2001:db9::1", "", "unix:"])
def test_headers_of_an_untrusted_peer_are_ignored(settings, peer):
    meta = seen(
        settings,
        REMOTE_ADDR=peer,
        HTTP_X_FORWARDED_FOR="198.51.100.7",
        HTTP_X_FORWARDED_PROTO="https",
        HTTP_X_FORWARDED_HOST="evil.example",
        HTTP_FORWARDED="for=198.51.100.7",
        HTTP_X_REAL_IP="198.51.100.7",
    )

    assert meta["REMOTE_ADDR"] == peer
    assert not [name for name in meta if "FORWARDED" in name or name == "HTTP_X_REAL_IP"]


def test_limit_cannot_be_evaded_by_a_made_up_address(db, client, settings):
    settings.ADDRESS_REQUESTS_PER_MINUTE = 2

    statuses = [
        client.get("/api/v1/store", headers={"X-Forwarded-For": f"198.51.100.{number}"}).status_code
        for number in range(4)
    ]

    assert statuses == [401, 401, 429, 429]
