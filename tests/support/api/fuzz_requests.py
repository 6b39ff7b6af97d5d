"""Requests no honest client sends, made from a seed: odd headers, parameters, paths and bodies, sent byte by byte."""

import contextlib
import random
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

PATHS = [
    "/api/v1/store",
    "/api/v1/store/{x}",
    "/api/v1/store/associated/product",
    "/api/v1/store/associated/product/{x}",
    "/api/v1/store/associated/order/exportview",
    "/api/v1/store/associated/order/{x}",
    "/api/v1/store/associated/order",
    "/api/v1/store/associated/quote",
    "/api/v1/store/associated/user/{x}",
    "/api/v1/store/associated/asset",
    "/api/v1/user",
    "/api/v1/user/emails",
    "/api/v1/user/{x}/roles",
    "/api/v1/application",
    "/api/v1/application/{x}",
    "/api/v1/application/{x}/icon",
    "/api/v1/association/{x}",
    "/api/v1/delivery/eddm",
    "/api/v1/delivery/eddm/selection",
    "/api/v1/delivery/eddm/selection/{x}",
    "/api/v1/schema",
    "/api/v1/{x}",
    "/oauth/token",
    "/oauth/revoke",
    "/oauth/authorize",
    "/accounts/login/",
    "/accounts/signup/",
    "/accounts/password-reset/",
    "/accounts/second-step/",
    "/admin/",
    "/proofs/{x}",
    "/assets/{x}",
    "/icons/{x}.png",
    "/static/{x}",
    "/healthz",
    "/{x}",
]
METHODS = ["GET", "GET", "GET", "POST", "POST", "PATCH", "PUT", "DELETE", "OPTIONS", "HEAD", "TRACE", "FOO"]
PARAMETERS = [
    "verbose",
    "skip",
    "take",
    "status",
    "createdAfter",
    "createdBefore",
    "productID",
    "orderNumber",
    "tenant",
    "postalCodes",
    "format",
    "next",
    "client_id",
    "scope",
    "response_type",
    "redirect_uri",
    "state",
    "q",
    "cursor",
]
HEADERS = [
    "Authorization",
    "Ocp-Apim-Subscription-Key",
    "Accept",
    "Accept-Encoding",
    "Accept-Language",
    "Content-Type",
    "Idempotency-Key",
    "If-None-Match",
    "If-Match",
    "Cookie",
    "X-Forwarded-For",
    "X_Forwarded_For",
    "Forwarded",
    "X-Forwarded-Proto",
    "X-Forwarded-Host",
    "Origin",
    "Referer",
    "traceparent",
    "Range",
    "Prefer",
    "User-Agent",
    "X-HTTP-Method-Override",
    "Transfer-Encoding",
    "Expect",
    "HX-Request",
    "X-Request-ID",
]
NASTY = [
    b"",
    b" ",
    b"\t",
    b"\x00",
    b"\x01\x1b[31m",
    b"\x7f",
    b"caf\xc3\xa9",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"%00",
    b"%0d%0aX: y",
    b"%ed%a0%80",
    b"%",
    b"%zz",
    b"'",
    b'"',
    b"';--",
    b"${7*7}",
    b"{{7*7}}",
    b"../../etc/passwd",
    b"..%2f..%2f",
    b"\\",
    b"|id",
    b"-1",
    b"0",
    b"1e309",
    b"NaN",
    b"9" * 40,
    b"9" * 5000,
    b"true",
    b"null",
    b"[]",
    b"{}",
    b"*",
    b"*/*;q=",
    b"a" * 3000,
    b"a" * 20000,
    b"2026-01-01",
    b"2026-13-45T99:99:99Z",
    b"0001-01-01T00:00:00+23:59",
    b"9999-12-31T23:59:59.999999Z",
    b"00000000-0000-0000-0000-000000000000",
    b"Bearer",
    b"Bearer x",
    b"bearer\tx",
    b"Basic !!!",
    b"Basic OjpA",
    b"Basic Og==",
    b'W/"',
    b'W/"x", "y"',
    b'"unterminated',
    b"bytes=0-",
    b"bytes=-1,5-2",
    b"gzip;q=2,;;,",
    b"chunked",
    b"gzip, chunked",
    b"00-00000000000000000000000000000000-0000000000000000-00",
    b"multipart/form-data",
    b"multipart/form-data; boundary=",
    b"application/json; charset=utf-7",
    b"application/x-www-form-urlencoded",
    b"application/xml",
    b"text/csv",
    b"image/png",
    b"\xe2\x80\xae\xe2\x80\xaegnp",
    b"=cmd|'/c calc'!A0",
    b"sessionid=x; __Host-session=y; messages=%ff",
]
BODIES = [
    b"",
    b"{",
    b"[]",
    b"null",
    b"7",
    b'"x"',
    b'{"a":' * 3000,
    b"[" * 60 + b"]" * 60,
    b'{"Name":"a","Name":"b"}',
    b"\xff\xfe\x00",
    b'{"Name":"\\u0000"}',
    b'{"Name":"\\ud800"}',
    b'{"Name":' + b"9" * 5000 + b"}",
    b'{"Items":[{}]}',
    b"\x89PNG\r\n\x1a\n" + b"\0" * 99,
    b"grant_type=authorization_code&code=%00",
    b"grant_type=password&grant_type=password",
    b"a=b&" * 3000,
    b"username=%00&password=%ff",
    b'--x\r\nContent-Disposition: form-data; name="f"; filename="../\x00.png"\r\n\r\nx\r\n--x--',
    b"<x/>",
    b'["a@b.c"]',
]


@dataclass(frozen=True)
class Case:
    method: str
    target: bytes
    headers: list[tuple[bytes, bytes]]
    body: bytes

    def request(self, host: str) -> bytes:
        lines = [
            self.method.encode() + b" " + self.target + b" HTTP/1.1",
            b"Host: " + host.encode(),
            b"Connection: close",
            *(name + b": " + value for name, value in self.headers),
        ]
        return b"\r\n".join(lines) + b"\r\n\r\n" + self.body


def hostile_cases(count: int, credentials: dict[str, str], seed: int = 1) -> Iterator[Case]:
    """`credentials` are sent with two of three requests, so that what is behind them is reached as well."""
    chance = random.Random(seed)
    for _ in range(count):
        headers: list[tuple[bytes, bytes]] = []
        if chance.random() < 0.67:
            headers += [(name.encode(), value.encode()) for name, value in credentials.items()]
        for name in chance.sample(HEADERS, chance.randint(0, 4)):
            headers.append((name.encode(), chance.choice(NASTY)))
        body = chance.choice(BODIES) if chance.random() < 0.5 else b""
        if body and chance.random() < 0.95:
            headers.append((b"Content-Length", str(len(body)).encode()))
            kinds = [
                b"application/json",
                b"application/x-www-form-urlencoded",
                b"multipart/form-data; boundary=x",
            ]
            headers.append((b"Content-Type", chance.choice(kinds)))
        yield Case(chance.choice(METHODS), _target(chance), headers, body)


def send(url: str, case: Case) -> int:
    """The status answered; 0 when the server closed the connection without an answer."""
    parts = urlsplit(url)
    with socket.create_connection((str(parts.hostname), parts.port or 80), timeout=20) as connection:
        # A refused head is answered before all of it was sent.
        with contextlib.suppress(OSError):
            connection.sendall(case.request(parts.netloc))
        with contextlib.suppress(ConnectionResetError, TimeoutError):
            head = connection.makefile("rb").readline()
            return int(head.split()[1]) if head.startswith(b"HTTP/") else 0
    return 0


def _target(chance: random.Random) -> bytes:
    path = chance.choice(PATHS).encode().replace(b"{x}", _in_address(chance))
    pairs = [
        chance.choice(PARAMETERS).encode() + b"=" + _in_address(chance) for _ in range(chance.randint(0, 3))
    ]
    return path + (b"?" + b"&".join(pairs) if pairs else b"")


def _in_address(chance: random.Random) -> bytes:
    """Mostly percent-encoded, as a client must; now and then raw."""
    value = chance.choice(NASTY)
    if chance.random() < 0.1:
        return value
    return b"".join(bytes([c]) if 0x21 <= c < 0x7F and c not in b"#?&/" else b"%%%02x" % c for c in value)
