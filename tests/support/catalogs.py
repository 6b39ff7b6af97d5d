"""The catalogs of messages: `python -m tests.support.catalogs` reads the sources anew and compiles `locale`.

Django's `makemessages` and `compilemessages` need the tools of GNU gettext, which not every machine has.
"""

import os
import sys
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import django
from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.apps import apps
from django.utils.translation.template import templatize

from fulfillment.core.admin.names import NAMES

ROOT = Path(__file__).resolve().parents[2]
LOCALE = ROOT / "fulfillment/locale"
LANGUAGES = ("de", "es")
APPS = ("accounts", "applications", "delivery", "fulfillment", "production", "stores")
KEYWORDS: dict[str, Any] = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
}


def path_of(language: str, domain: str, suffix: str) -> Path:
    return LOCALE / language / "LC_MESSAGES" / f"{domain}{suffix}"


def scripts() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "static").rglob("*.js")):
        if "vendor" not in path.parts:
            yield str(path.relative_to(ROOT)), path.read_text("utf-8")


def sources() -> Iterator[tuple[str, str]]:
    """Paths and their texts as Python, of those that have messages: to read the others takes most of the time."""
    for app in APPS:
        for path in sorted((ROOT / app).rglob("*.py")):
            if "gettext" in (text := path.read_text("utf-8")):
                yield str(path.relative_to(ROOT)), text
    for path in sorted((ROOT / "templates").rglob("*.*")):
        # A message is one line; what stands around it has no indentation that Python would accept.
        lines = templatize(path.read_text("utf-8")).splitlines()
        yield (
            str(path.relative_to(ROOT)),
            "\n".join(line.strip() for line in lines if "gettext(" in line or "_(" in line),
        )


def messages(domain: str) -> Catalog:
    """All messages of the sources, in their order."""
    found = Catalog()
    kind, read = DOMAINS[domain]
    for path, text in read():
        for _, message, _, context in extract(kind, BytesIO(text.encode()), KEYWORDS):
            found.add(message, locations=[(path, 0)], context=context)
    for name in sorted(names()) if domain == "django" else ():
        found.add(name)
    return found


def names() -> set[str]:
    """Of models, fields, columns and actions, which the console's admins translate unmarked."""
    if not apps.ready:
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
        django.setup()
    return NAMES


@cache
def catalog_of(language: str, domain: str) -> Catalog:
    with path_of(language, domain, ".po").open("rb") as file:
        return read_po(file, locale=language)


def compiled(catalog: Catalog) -> bytes:
    file = BytesIO()
    write_mo(file, catalog)
    return file.getvalue()


# Django's two: of pages, and of their scripts.
DOMAINS = {"django": ("python", sources), "djangojs": ("javascript", scripts)}


def update(language: str, domain: str, found: Catalog) -> int:
    """How many messages have no translation."""
    catalog = catalog_of(language, domain)
    catalog.update(found, no_fuzzy_matching=True)
    catalog.obsolete.clear()
    with path_of(language, domain, ".po").open("wb") as file:
        write_po(file, catalog, width=110, no_location=True)
    path_of(language, domain, ".mo").write_bytes(compiled(catalog))
    return sum(bool(message.id) and not message.string for message in catalog)


def main() -> int:
    missing = 0
    for domain in DOMAINS:
        found = messages(domain)
        for language in LANGUAGES:
            without = update(language, domain, found)
            missing += without
            sys.stdout.write(
                f"{language}, {domain}: {len(found)} messages, {without} without a translation\n"
            )
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
