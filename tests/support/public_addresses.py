"""The table of docs/access.md of what is given without a password.

`python -m tests.support.public_addresses` writes it; a test compares it with a crawl of all URL patterns.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from fulfillment.core.http.secret_links import PLACE

PAGE = Path(__file__).resolve().parents[2] / "docs" / "access.md"
BEGIN, END = "<!-- Addresses without a password -->\n", "<!-- End of the addresses -->"
HEAD = "| address | what it gives | what it costs | its limit |\n|---|---|---|---|\n"
VALUES = {"uuid": "00000000-0000-4000-8000-000000000000", "int": "1"}
SIGN_IN = ("/accounts/login", "/admin/")
PROXY = "the proxy's"
REFERENCE = "`ADDRESS_REQUESTS_PER_MINUTE` of an address, counted apart"
STORED, ROW = "a stored text", "a row"
MAILED = ("the question of the link; to its reader alone", "rows of one link", PROXY)
# By route: what it gives, what it costs, its limit.
KNOWN = {
    "": ("the start page; no data of stores but the live proof's", "a template", PROXY),
    ".well-known/api-catalog": ("addresses of the API and its description (RFC 9727)", STORED, PROXY),
    ".well-known/oauth-authorization-server": ("addresses for signing in (RFC 8414)", STORED, PROXY),
    ".well-known/oauth-authorization-server/<path:issuer_path>": ("the same, or 404", STORED, PROXY),
    ".well-known/oauth-protected-resource": ("addresses of the API (RFC 9728)", STORED, PROXY),
    ".well-known/oauth-protected-resource/<path:resource_path>": ("the same, or 404", STORED, PROXY),
    "accounts/email/<secret:token>/": MAILED,
    "accounts/email/confirm/<secret:token>/": MAILED,
    "accounts/login/": (
        "a session for the right password",
        "one password hash, in turn",
        "`SIGN_IN_TRIES_PER_ACCOUNT`, `SIGN_IN_TRIES_PER_ADDRESS`",
    ),
    "accounts/logout/": ("nothing", "the end of a session", PROXY),
    "accounts/password-reset/": (
        "nothing: the same answer for all addresses",
        "a job and a mail",
        "20 in 15 minutes from an address; 3 mails an hour, 10 a day to one",
    ),
    "accounts/password-reset/<uidb64>/<secret:token>/": (
        "the form for a new password",
        "a row; one password hash, in turn",
        PROXY,
    ),
    "accounts/password-reset/saved/": ("a fixed page", "a template", PROXY),
    "accounts/password-reset/sent/": ("a fixed page", "a template", PROXY),
    "accounts/signup/": (
        "404 where sign-up is off; else an account, and whether a user name is taken",
        "one password hash, in turn; an account and a mail",
        "20 in 15 minutes from an address; 3 mails an hour, 10 a day to one",
    ),
    "^api/(?!v1/docs)": ("404", "nothing", "`ADDRESS_REQUESTS_PER_MINUTE` of an address"),
    "api/v1/docs": ("the reference of the API", "a template", REFERENCE),
    "api/v1/docs/errors/<str:code>": ("what an error code means", "a template", REFERENCE),
    "api/v1/docs/events": ("the reference of events", "a template", REFERENCE),
    "api/v1/docs/events/<str:name>": ("the reference of one event", "a template", REFERENCE),
    "api/v1/docs/guides/<str:slug>": ("a guide", "a template", REFERENCE),
    "api/v1/docs/operations/<str:operation_id>": ("the reference of one operation", "a template", REFERENCE),
    "api/v1/docs/search": ("places in the reference", "a search in memory", REFERENCE),
    "api/v1/schema": ("the OpenAPI document", STORED, "`ADDRESS_REQUESTS_PER_MINUTE` of an address"),
    "assets/<secret:token>/<str:name>": ("an uploaded picture, by its signed address", "a file", PROXY),
    "clients": ("the names of the client libraries", "a template", PROXY),
    "clients/<str:name>": ("a client library", "a file", PROXY),
    "guide": ("the quick start", "a template", PROXY),
    "dev/mail": ("404; in development mode the mails of this machine", "some files", PROXY),
    "healthz": ("that the process answers", "nothing", PROXY),
    "icons/<str:sha256>.png": ("an application's icon, by the digest of its content", ROW, PROXY),
    "invitations/<secret:token>": MAILED,
    "invitations/<secret:token>/decline": ("nothing; ends the invitation", "rows of one link", PROXY),
    "jsi18n": ("words of the pages' scripts in the reader's language", "a catalog in memory", PROXY),
    "live-proof": (
        "a proof of the demo card with the visitor's words, where the demo store is",
        "one rendering at once for all visitors",
        "120 a minute of an address",
    ),
    "live-proof.png": ("the picture of it", "the same", "the same"),
    "changelog.atom": ("the releases and what they change", STORED, PROXY),
    "llms-full.txt": ("the reference and its guides as one text", STORED, PROXY),
    "llms.txt": ("an index of the reference for programs", STORED, PROXY),
    "logos/<str:sha256>.png": ("a store's logo, by the digest of its content", ROW, PROXY),
    "metrics": ("404; figures for `METRICS_TOKEN` or from `METRICS_NETWORKS`", "nothing", PROXY),
    "oauth/authorize": ("a description of a wrong request, else the way to the sign-in", "two rows", PROXY),
    "oauth/revoke": ("nothing", "a digest and a row", "`TOKEN_FAILURES_PER_MINUTE` of an address"),
    "oauth/token": (
        "tokens for the right secret",
        "a digest and a row",
        "`TOKEN_FAILURES_PER_MINUTE` of an address",
    ),
    "production/file/<secret:token>/<str:name>": ("a print file, to its provider", "a file", PROXY),
    "production/postback/<slug:code>/<secret:secret>": (
        "404, but to the provider that knows its secret",
        "a row; for the provider 1 MB parsed in turn",
        "one at a time of a provider",
    ),
    "proofs/<secret:token>/<str:name>": (
        "a proof, by its signed address",
        "a file; a page in a width of its own is drawn once",
        "the proxy's; 120 such pages a minute of an address",
    ),
    "readyz": ("which parts are ready, and why one is not", "a few statements", PROXY),
}


def routes(patterns: Iterable[URLPattern | URLResolver], prefix: str = "") -> Iterator[str]:
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, route)
        else:
            yield route


def crawl() -> set[str]:
    """Each address that answers a visitor with more than a refusal or the way to the sign-in."""
    client: Any = Client(raise_request_exception=False)
    return {
        route
        for route in routes(get_resolver().url_patterns)
        # One function answers visitors of the console for all its pages.
        for method in ((client.get,) if route.startswith("admin/") else (client.get, client.post))
        if is_public(method("/" + PLACE.sub(lambda place: VALUES.get(place[1], "x1"), route)))
    }


def is_public(answer: HttpResponse) -> bool:
    leads_to_sign_in = answer.headers.get("Location", "").startswith(SIGN_IN)
    return answer.status_code not in {401, 405} and not leads_to_sign_in


def table() -> str:
    rows = (f"| `/{route}` | {' | '.join(cells)} |\n" for route, cells in sorted(KNOWN.items()))
    return HEAD + "".join(
        row.replace("`/^api/(?!v1/docs)`", "`/api/` and what is unknown below it") for row in rows
    )


def written(page: str) -> str:
    """The page with the table between its marks."""
    before, _, rest = page.partition(BEGIN)
    return before + BEGIN + table() + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")
