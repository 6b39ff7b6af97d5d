"""Only a registered address is answered, character by character; loopback IP addresses may choose the port."""

import pytest

from applications.oauth.server import is_registered
from tests.factories.applications import ApplicationFactory
from tests.support.accounts.oauth_flows import Party, browser_of

WEB = "https://client.example/callback"
QUERY = "https://client.example/callback?a=1&b=2"
PORT = "https://client.example:8443/callback"
NATIVE = "http://127.0.0.1:9099/callback"
NATIVE6 = "http://[::1]:9099/callback"
LOCALHOST = "http://localhost:9099/callback"
BARE = "http://127.0.0.1"

ACCEPTED = [
    (WEB, WEB),
    (QUERY, QUERY),
    (PORT, PORT),
    (LOCALHOST, LOCALHOST),
    (NATIVE, NATIVE),
    (NATIVE, "http://127.0.0.1/callback"),
    (NATIVE, "http://127.0.0.1:1/callback"),
    (NATIVE, "http://127.0.0.1:80/callback"),
    (NATIVE, "http://127.0.0.1:65535/callback"),
    (NATIVE6, NATIVE6),
    (NATIVE6, "http://[::1]:5/callback"),
    (NATIVE6, "http://[::1]/callback"),
    (BARE, "http://127.0.0.1:5"),
    ("http://127.0.0.1:1/cb?a=b", "http://127.0.0.1:2/cb?a=b"),
    ("https://127.0.0.1:9099/callback", "https://127.0.0.1:9099/callback"),
]

REFUSED = [
    *(
        (WEB, variant)
        for variant in (
            "HTTPS://client.example/callback",
            "Https://client.example/callback",
            "http://client.example/callback",
            "ftp://client.example/callback",
            "https:client.example/callback",
            "https:/client.example/callback",
            "https:///client.example/callback",
            "https:\\\\client.example\\callback",
            "//client.example/callback",
            "client.example/callback",
            "/callback",
            "https://CLIENT.example/callback",
            "https://client.example./callback",
            "https://client.example:443/callback",
            "https://client.example:0443/callback",
            "https://client.example:/callback",
            "https://client.example:0/callback",
            "https://client.example:65536/callback",
            "https://client.example:99999/callback",
            "https://client.example:x/callback",
            "https://client.example:8443/callback",
            "https://client.example:80/callback",
            "https://client.example/callback/",
            "https://client.example//callback",
            "https://client.example/./callback",
            "https://client.example/a/../callback",
            "https://client.example/callback/..",
            "https://client.example/callback/.",
            "https://client.example/%63allback",
            "https://client.example/callback%2f",
            "https://client.example/callback%2e",
            "https://client.example/callback%00",
            "https://client.example/callback%20",
            "https://client.example/callback%0a",
            "https://client.example/callbac",
            "https://client.example/callback2",
            "https://client.example/Callback",
            "https://client.example/",
            "https://client.example",
            "https://client.example/callback;a=b",
            "https://client.example/callback;",
            "https://client.example/callback?",
            "https://client.example/callback?a=1",
            "https://client.example/callback&a=1",
            "https://client.example/callback#",
            "https://client.example/callback#a",
            "https://client.example/callback%23",
            "https://client.example#/callback",
            "https://client.example?/callback",
            "https://user@client.example/callback",
            "https://user:pass@client.example/callback",
            "https://@client.example/callback",
            "https://:@client.example/callback",
            "https://client.example@evil.example/callback",
            "https://client.example%40evil.example/callback",
            "https://evil.example/client.example/callback",
            "https://evil.example#client.example/callback",
            "https://evil.example?client.example/callback",
            "https://evil.example\\client.example/callback",
            "https://client.example\\@evil.example/callback",
            "https://client.example/\\callback",
            "https://client.example\\callback",
            "https://client.example.evil.example/callback",
            "https://evilclient.example/callback",
            "https://evil-client.example/callback",
            "https://sub.client.example/callback",
            "https://*.example/callback",
            "https://client.exampl\u0435/callback",
            "https://\uff43lient.example/callback",
            "https://client\u3002example/callback",
            "https://xn--client-.example/callback",
            "https://client.example/callback\n",
            "https://client.example/callback\r\n",
            "https://client.example/callback\t",
            "https://client.example/callback ",
            " https://client.example/callback",
            "\nhttps://client.example/callback",
            "\thttps://client.example/callback",
            "https://client.example\t/callback",
            "https://client.example /callback",
            "https://client.example/call\nback",
            "ht\ntps://client.example/callback",
            "https://client.example/callback\u2028",
            "https://client.example/callback\u00a0",
            "https://client.example/callback\ufeff",
            "https://client.example/callback https://evil.example/",
            "https://evil.example/ https://client.example/callback",
            "javascript:alert(1)//https://client.example/callback",
            "data:text/html,https://client.example/callback",
            "client:/callback",
            "",
        )
    ),
    *(
        (QUERY, variant)
        for variant in (
            "https://client.example/callback?b=2&a=1",
            "https://client.example/callback?a=1&b=2&c=3",
            "https://client.example/callback?a=1&b=2&",
            "https://client.example/callback?a=1&amp;b=2",
            "https://client.example/callback?a=1;b=2",
            "https://client.example/callback?a=1",
            "https://client.example/callback?a=1&b=%32",
            "https://client.example/callback??a=1&b=2",
            "https://client.example/callback",
        )
    ),
    *(
        (PORT, variant)
        for variant in (WEB, "https://client.example:8444/callback", "https://client.example:08443/callback")
    ),
    *(
        (NATIVE, variant)
        for variant in (
            "https://127.0.0.1:9099/callback",
            "HTTP://127.0.0.1:9099/callback",
            "http://127.0.0.1:0/callback",
            "http://127.0.0.1:00080/callback",
            "http://127.0.0.1:09099/callback",
            "http://127.0.0.1:65536/callback",
            "http://127.0.0.1:99999/callback",
            "http://127.0.0.1:100000/callback",
            "http://127.0.0.1:/callback",
            "http://127.0.0.1:-1/callback",
            "http://127.0.0.1:+80/callback",
            "http://127.0.0.1:8 0/callback",
            "http://127.0.0.1:\u0661/callback",
            "http://127.0.0.1:9099/callback\n",
            "http://127.0.0.1:9099/callback/",
            "http://127.0.0.1:9099/other",
            "http://127.0.0.1:9099",
            "http://127.0.0.1:9099/callback?a=1",
            "http://127.0.0.1:9099/callback#",
            "http://a@127.0.0.1:9099/callback",
            "http://127.0.0.1:80@evil.example/callback",
            "http://127.0.0.1.evil.example/callback",
            "http://127.0.0.2:9099/callback",
            "http://127.1:9099/callback",
            "http://2130706433:9099/callback",
            "http://0x7f.0.0.1:9099/callback",
            "http://0177.0.0.1:9099/callback",
            "http://localhost:9099/callback",
            "http://[::1]:9099/callback",
            "http://[::ffff:127.0.0.1]:9099/callback",
        )
    ),
    *(
        (NATIVE6, variant)
        for variant in (
            "http://[0:0:0:0:0:0:0:1]:9099/callback",
            "http://[::01]:9099/callback",
            "http://[::1%25lo]:9099/callback",
            "http://::1:9099/callback",
            "http://[::2]:9099/callback",
            "http://[::1]:0/callback",
            NATIVE,
        )
    ),
    *(
        (LOCALHOST, variant)
        for variant in ("http://localhost/callback", "http://localhost:9098/callback", NATIVE)
    ),
    *(
        (BARE, variant)
        for variant in (
            "http://127.0.0.1/",
            "http://127.0.0.1:5/",
            "http://127.0.0.1x",
            "http://127.0.0.1:5x",
        )
    ),
    ("https://127.0.0.1:9099/callback", "https://127.0.0.1:9098/callback"),
    ("https://127.0.0.1:9099/callback", "http://127.0.0.1:9099/callback"),
]


@pytest.mark.parametrize(("registered", "requested"), ACCEPTED)
def test_registered_address_is_known(registered, requested):
    assert is_registered(requested, ["https://other.example/", registered])


@pytest.mark.parametrize(("registered", "requested"), REFUSED)
def test_any_other_address_is_not(registered, requested):
    assert not is_registered(requested, ["https://other.example/", registered])


def test_nothing_registered_means_nothing_known():
    assert not is_registered(WEB, [])


def test_refused_addresses_never_get_an_answer(user):
    urls = (WEB, QUERY, PORT, NATIVE6)
    party, browser = Party(ApplicationFactory(reply_urls=urls)), browser_of(user)
    requested = {variant for registered, variant in REFUSED if registered in urls} - set(urls) - {NATIVE, ""}
    for variant in requested:
        response = party.ask(browser, redirect_uri=variant)
        assert response.status_code == 400, variant
        assert "Location" not in response.headers


def test_native_application_chooses_its_port(user):
    party = Party(ApplicationFactory(reply_urls=(NATIVE,)))
    chosen = "http://127.0.0.1:51234/callback"
    code = party.code_for(user, redirect_uri=chosen)
    assert party.redeem(code, redirect_uri=NATIVE).status_code == 400
    assert party.redeem(code, redirect_uri=chosen).status_code == 200
