"""The addresses of the portal, read off its list of them, and what of them is no page, each with its reason.

The console has a table of its own: tests/support/browser/console_pages.py.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.urls import URLPattern, get_resolver

NO_PAGE = {
    "oauth2_provider:token": "JSON",
    "oauth2_provider:revoke-token": "JSON",
    "oauth2_provider:oauth-server-metadata": "JSON",
    "oauth2_provider:oauth-resource-metadata": "JSON",
    ".well-known/oauth-authorization-server/<path:issuer_path>": "JSON",
    ".well-known/oauth-protected-resource/<path:resource_path>": "JSON",
    "^api/(?!v1/docs)": "JSON",
    ".well-known/api-catalog": "JSON",
    "llms.txt": "a text for programs",
    "llms-full.txt": "a text for programs",
    "changelog.atom": "a feed for programs",
    "portal:artwork-page": "a picture",
    "portal:batch-file": "a file",
    "portal:batch-sheet": "a file",
    "portal:batch-template": "a file",
    "portal:client-package": "a file",
    "portal:icon": "a picture",
    "portal:application-order-print-file": "a file",
    "portal:application-order-proof": "a picture",
    "portal:order-proof": "a picture",
    "portal:javascript-catalog": "a script",
    "portal:live-proof": "JSON",
    "portal:product-thumbnail": "a picture",
    "portal:store-logo": "a picture",
    "portal:live-proof-picture": "a picture",
    "portal:mailing-csv": "a file",
    "portal:mailing-routes": "JSON",
    "portal:mailing-shapes": "JSON",
    "production_file": "a file",
    "production_postback": "JSON",
    "portal:notification": "leads to what it is about",
    "proofs": "a file",
    "assets": "a file",
    "schema": "YAML",
    "healthz": "for probes",
    "readyz": "for probes",
    "metrics": "for Prometheus",
}
# They take nothing but a POST and answer with another page. Nothing is ended, deleted or replaced by them unasked.
ACTS_AT_ONCE = {
    "logout": "reversed by a sign-in",
    "portal:profile-email-cancel": "the old address stays, and the new one can be requested again by the form there",
    "portal:profile-email-link": "sends the letter again",
    "portal:confirmation-end": "dangerous actions need the password again",
    "portal:profile-email-later": "a banner is put away until the next sign-in",
    "portal:profile-subscribe": "makes keys",
    "portal:product-picture": "adds a picture, of which the answer is JSON",
    "portal:product-draft": "draws pages and keeps nothing; the answer is JSON",
    "portal:artwork-asset": "adds a PDF, of which the answer is JSON",
    "portal:batch-rows": "leads to the columns of the file",
    "portal:batch-check": "checks the rows again",
    "portal:notifications-read": "nothing goes but a mark",
    "portal:invitation-send": "sends the letter again",
    "portal:invitation-accept": "the page it is sent from is the question",
    "portal:invitation-decline": "the page it is sent from is the question",
    "portal:order-cancel": "the fold of the order's page that it is sent from is the question",
    "portal:webhook-enable": "switches on",
    "portal:webhook-test": "sends a test",
    "portal:application-order-advance": "a test order, of which nothing is produced, has its next status",
    "portal:deliveries-resend": "receivers know an event by its ID",
    "portal:delivery-resend": "receivers know an event by its ID",
}
# What is filled in there makes or changes something, and takes nothing away that is not typed anew.
FORMS = {
    "email_confirmation",
    "email_confirm",
    "login",
    "oauth2_provider:authorize",
    "password_change",
    "password_reset",
    "password_reset_confirm",
    "portal:application-edit",
    "portal:artwork",
    "portal:application-icon",
    "portal:batch-cancel",
    "portal:batch-mapping",
    "portal:batch-new",
    "portal:batch-order",
    "portal:batch-row",
    "portal:application-join",
    "portal:application-key-dates",
    "portal:application-keys",
    "portal:application-new",
    "portal:application-owners",
    "portal:application-stores",
    "portal:directory-store",
    "portal:mailing",
    "portal:product",
    "portal:notification-preferences",
    "portal:profile",
    "portal:send",
    "portal:profile-email",
    "portal:two-factor-set-up",
    "portal:webhook",
    "portal:webhook-edit",
    "portal:webhook-new",
    "portal:webhook-signature",
    "second_step",
    "signup",
}
# Files that no page of the portal is made of.
OTHER_TEMPLATES = ("admin/", "unfold/")


def names_of_addresses() -> set[str]:
    return {name for name, _ in _named(get_resolver().url_patterns, "", "")}


def addresses_to_try() -> Iterator[tuple[str, str]]:
    """Each by its name, with something of the right form in place of what it takes."""
    for name, route in _named(get_resolver().url_patterns, "", ""):
        yield name, "/" + re.sub(r"<[^>]+>", "00000000-0000-0000-0000-000000000000", route)


def templates_of_pages() -> set[str]:
    folder = Path(settings.BASE_DIR, "templates")
    names = {str(file.relative_to(folder)) for file in folder.rglob("*.html")}
    return {name for name in names if not name.startswith(OTHER_TEMPLATES)}


def _named(patterns: Any, space: str, route: str) -> Iterator[tuple[str, str]]:
    for pattern in patterns:
        here = route + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            yield (f"{space}{pattern.name}" if pattern.name else here), here
        elif pattern.namespace != "admin" and not here.startswith("api/"):
            yield from _named(
                pattern.url_patterns, f"{pattern.namespace}:" if pattern.namespace else space, here
            )
