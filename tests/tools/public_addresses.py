"""The table of docs/access.md of what is given without a password.

`python -m tests.tools.public_addresses` writes it; a test compares it with a crawl of all URL patterns.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from fulfillment.core.http.addresses import PLACE

PAGE = Path(__file__).resolve().parents[2] / "docs" / "access.md"
BEGIN, END = "<!-- Addresses without a password -->\n", "<!-- End of the addresses -->"
HEAD = "| path | response | cost | limit |\n|---|---|---|---|\n"
VALUES = {"uuid": "00000000-0000-4000-8000-000000000000", "int": "1"}
SIGN_IN = ("/accounts/login", "/admin/")
PROXY = "the proxy's"
REFERENCE = "`ADDRESS_REQUESTS_PER_MINUTE` per address, counted separately"
STORED, ROW = "a stored text", "a row"
MAILED = ("the confirmation page of an emailed link", "rows for one link", PROXY)
# By route: what it gives, what it costs, its limit.
KNOWN = {
    "": ("the start page, with store data only in the live proof", "a template", PROXY),
    ".well-known/api-catalog": ("URLs of the API and its description (RFC 9727)", STORED, PROXY),
    ".well-known/oauth-authorization-server": ("OAuth server metadata (RFC 8414)", STORED, PROXY),
    ".well-known/oauth-authorization-server/<path:issuer_path>": ("the same, or 404", STORED, PROXY),
    ".well-known/oauth-protected-resource": ("protected resource metadata (RFC 9728)", STORED, PROXY),
    ".well-known/oauth-protected-resource/<path:resource_path>": ("the same, or 404", STORED, PROXY),
    "accounts/email/<secret:token>/": MAILED,
    "accounts/email/confirm/<secret:token>/": MAILED,
    "accounts/login/": (
        "a session for a valid password",
        "one queued password hash",
        "`SIGN_IN_TRIES_PER_ACCOUNT`, `SIGN_IN_TRIES_PER_ADDRESS`",
    ),
    "accounts/logout/": ("nothing", "ending a session", PROXY),
    "accounts/password-reset/": (
        "nothing: the response is always the same",
        "a job and an email",
        "20 in 15 minutes per IP address; 3 emails an hour and 10 a day per email address",
    ),
    "accounts/password-reset/<uidb64>/<secret:token>/": (
        "the form for a new password",
        "a row; one queued password hash",
        PROXY,
    ),
    "accounts/password-reset/saved/": ("a fixed page", "a template", PROXY),
    "accounts/password-reset/sent/": ("a fixed page", "a template", PROXY),
    "accounts/signup/": (
        "404 if sign-up is off; otherwise an account, and whether a username is taken",
        "one queued password hash; an account and an email",
        "20 in 15 minutes per IP address; 3 emails an hour and 10 a day per email address",
    ),
    "^api/(?!v1/docs)": ("404", "nothing", "`ADDRESS_REQUESTS_PER_MINUTE` per address"),
    "api/v1/docs": ("the API reference", "a template", REFERENCE),
    "api/v1/docs/errors/<str:code>": ("the meaning of an error code", "a template", REFERENCE),
    "api/v1/docs/events": ("the reference of events", "a template", REFERENCE),
    "api/v1/docs/events/<str:name>": ("the reference of one event", "a template", REFERENCE),
    "api/v1/docs/guides/<str:slug>": ("a guide", "a template", REFERENCE),
    "api/v1/docs/operations/<str:operation_id>": ("the reference of one operation", "a template", REFERENCE),
    "api/v1/docs/search": ("search results in the reference", "a search in memory", REFERENCE),
    "api/v1/schema": ("the OpenAPI document", STORED, "`ADDRESS_REQUESTS_PER_MINUTE` per address"),
    "assets/<secret:token>/<str:name>": ("an uploaded picture, at its signed URL", "a file", PROXY),
    "clients": ("the names of the client libraries", "a template", PROXY),
    "clients/<str:name>": ("a client library", "a file", PROXY),
    "guide": ("the quick start", "a template", PROXY),
    "dev/mail": ("404; in development mode, emails sent on this machine", "some files", PROXY),
    "healthz": ("whether the process responds", "nothing", PROXY),
    "icons/<str:sha256>.png": ("an application's icon, by content digest", ROW, PROXY),
    "invitations/<secret:token>": MAILED,
    "invitations/<secret:token>/decline": ("nothing; ends the invitation", "rows for one link", PROXY),
    "jsi18n": ("translations for the pages' scripts", "a catalog in memory", PROXY),
    "live-proof": (
        "a proof of the demo card with the visitor's text, if there is a demo store",
        "one rendering at a time for all visitors",
        "120 a minute per address",
    ),
    "live-proof.png": ("the picture of that proof", "the same", "the same"),
    "changelog.atom": ("the releases and their changes", STORED, PROXY),
    "llms-full.txt": ("the reference and its guides as one text", STORED, PROXY),
    "llms.txt": ("an index of the reference for programs", STORED, PROXY),
    "logos/<str:sha256>.png": ("a store's logo, by content digest", ROW, PROXY),
    "metrics": ("404; metrics with `METRICS_TOKEN` or from `METRICS_NETWORKS`", "nothing", PROXY),
    "oauth/authorize": (
        "an error for a malformed request, otherwise a redirect to the sign-in",
        "two rows",
        PROXY,
    ),
    "oauth/revoke": ("nothing", "a digest and a row", "`TOKEN_FAILURES_PER_MINUTE` per address"),
    "oauth/token": (
        "tokens for a valid secret",
        "a digest and a row",
        "`TOKEN_FAILURES_PER_MINUTE` per address",
    ),
    "production/file/<secret:token>/<str:name>": ("a print file, to its provider", "a file", PROXY),
    "production/postback/<slug:code>/<secret:secret>": (
        "404, except for the provider with the secret",
        "a row; for the provider, parsing 1 MB in a queue",
        "one at a time per provider",
    ),
    "proofs/<secret:token>/<str:name>": (
        "a proof, at its signed URL",
        "a file; a page in a custom width is rendered once",
        "the proxy's; 120 such pages a minute per address",
    ),
    "readyz": ("the ready parts, and why a part is not ready", "a few statements", PROXY),
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
        row.replace("`/^api/(?!v1/docs)`", "`/api/` and unknown paths below it") for row in rows
    )


def written(page: str) -> str:
    """The page with the table between its marks."""
    before, _, rest = page.partition(BEGIN)
    return before + BEGIN + table() + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")
