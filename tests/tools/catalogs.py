"""The catalogs of messages: `python -m tests.tools.catalogs` reads the sources anew and compiles `locale`.

Django's `makemessages` and `compilemessages` need the tools of GNU gettext, which not every machine has.
"""

import ast
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import django
import unfold
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.apps import apps
from django.utils.translation.template import templatize

from fulfillment.core.admin.names import NAMES
from fulfillment.core.recorded_texts import CONTEXT
from printing.preflight import RULES
from tests.tools.source_texts import WORDS, sentences_in

ROOT = Path(__file__).resolve().parents[2]
LOCALE = ROOT / "fulfillment/locale"
LANGUAGES = ("de", "es")
PREFLIGHT_RULES = "printing/preflight/rules"
# As `printing.preflight.checking` makes it.
FINDING = "%%(what)s %s (%%(found)s; expected: %%(wanted)s)."
FIELD_SPECS = "stores/catalog/records/field_specs.py"
# Their texts are kept or raised in English; a page translates them where it shows them.
RECORDED = (
    "applications/registration/services/icons.py",
    "applications/registration/services/applications.py",
    "production/settings_form.py",
    "stores/proofs/services",
    "stores/templates/selectors.py",
    "stores/templates/services.py",
    "stores/presets/services.py",
    "stores/catalog/catalog_file",
    "stores/catalog/records",
    "stores/catalog/services",
    "applications/webhooks/event_types.py",
    "applications/webhooks/sending",
    "applications/webhooks/services/webhooks.py",
    "stores/batches/files",
    "stores/batches/order_forms.py",
    "stores/batches/row_contents.py",
    "stores/batches/selectors",
    "stores/batches/services",
    "stores/budgets/services",
    "stores/editor",
    "fulfillment/core/csv_rows.py",
    "fulfillment/core/files/storage.py",
    "stores/orders/services",
    PREFLIGHT_RULES,
    "printing/preflight/eddm.py",
    "printing/bounded.py",
    "printing/documents",
    "printing/pictures.py",
    "printing/press",
    "printing/typesetting",
    "production/adapters",
    "production/dispatch",
    "production/gang_sheets",
    "production/jobs",
    "production/providers",
    "delivery/datasets/selectors.py",
    "delivery/datasets/services",
    "delivery/datasets/sources",
    "delivery/datasets/problems.py",
    "delivery/papers",
    "delivery/selection/services",
    "fulfillment/core/http/outgoing",
)
# Scripts have messages inside of template strings, too.
OPTIONS = {"parse_template_string": True}
# django-unfold has no catalogs; of the others that the console shows, `templates` has its own.
UNFOLD_TEMPLATES = (
    "unfold/helpers/edit_inline/inline_delete_undo.html",
    "unfold/helpers/field_readonly_value_file.html",
    "unfold/widgets/clearable_file_input.html",
)
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
    of_unfold = Path(unfold.__file__).parent / "templates"
    templates = [(ROOT, path) for path in sorted((ROOT / "templates").rglob("*.*"))]
    for root, path in [*templates, *((of_unfold, of_unfold / name) for name in UNFOLD_TEMPLATES)]:
        # A message is one line; what stands around it has no indentation that Python would accept.
        lines = templatize(path.read_text("utf-8")).splitlines()
        yield (
            str(path.relative_to(root)),
            "\n".join(line.strip() for line in lines if "gettext(" in line or "_(" in line),
        )


def messages(domain: str) -> Catalog:
    """All messages of the sources, in their order."""
    catalog = Catalog()
    kind, read = DOMAINS[domain]
    for path, text in read():
        for _, message, _, context in extract(kind, BytesIO(text.encode()), KEYWORDS, options=OPTIONS):
            catalog.add(message, locations=[(path, 0)], context=context)
    for text in recorded() if domain == "django" else ():
        catalog.add(text, context=CONTEXT)
    for name in sorted(names()) if domain == "django" else ():
        catalog.add(name)
    return catalog


def recorded() -> list[str]:
    """Each text once, with a name for every value in it."""
    names()
    from stores.product_pages.product_form import FIELD_MESSAGES  # noqa: PLC0415 - it needs Django's apps

    of_records: dict[str, None] = {}
    for place in RECORDED:
        for path in sorted((ROOT / place).rglob("*.py")) or [ROOT / place]:
            module, is_phrase = ast.parse(path.read_text("utf-8")), place == PREFLIGHT_RULES
            texts = sentences_in(module, in_marks, in_message=is_phrase, words=1)
            if path == ROOT / FIELD_SPECS:
                # What a value should have been; `value_checks` adds what it is.
                texts = [f"{text}; found \ue000value\ue001." if text[0].islower() else text for text in texts]
            of_records |= dict.fromkeys(map(with_names, texts))
    rules = {FINDING % rule.message: None for rule in RULES}
    rules |= {f"%(field)s {message}": None for message in FIELD_MESSAGES}
    own = {text for text in of_records if len(WORDS.findall(re.sub(r"%\(\w+\)s", "", text))) > 1}
    phrases = [rule.message for rule in RULES]
    return (
        [text for text in of_records if text in own and FINDING % text not in rules] + list(rules) + phrases
    )


def in_marks(expression: ast.AST) -> str:
    names_in = [
        name
        for name in re.findall(r"[a-z]\w+", ast.unparse(expression))
        if name not in {"len", "join", "str"}
    ]
    return f"\ue000{names_in[-1] if names_in else 'value'}\ue001"


def with_names(text: str) -> str:
    """Equal names get numbers."""
    seen: Counter[str] = Counter()

    def numbered(match: re.Match[str]) -> str:
        seen[match[1]] += 1
        return f"%({match[1]}{seen[match[1]] if seen[match[1]] > 1 else ''})s"

    plain = text.replace("%", "%%") if "\ue000" in text else text
    return re.sub("\ue000(\\w+)\ue001", numbered, plain)


def names() -> set[str]:
    """Of models, fields, columns, actions and order statuses, which are translated unmarked."""
    if not apps.ready:
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
        django.setup()
    from production.adapters.registry import adapter_kinds  # noqa: PLC0415 - it needs Django's apps
    from stores.orders.models import OrderStatus  # noqa: PLC0415 - as above

    # Adapters name the fields of their settings when they register.
    adapter_kinds()
    return NAMES | {status.words for status in OrderStatus}


@cache
def catalog_of(language: str, domain: str) -> Catalog:
    path = path_of(language, domain, ".po")
    if not path.exists():
        return Catalog(locale=language)
    with path.open("rb") as file:
        return read_po(file, locale=language)


def is_translated(message: Message) -> bool:
    """In all of its forms."""
    return bool(message.string and all(message.string))


def compiled(catalog: Catalog) -> bytes:
    file = BytesIO()
    write_mo(file, catalog)
    return file.getvalue()


# Django's two: of pages, and of their scripts.
DOMAINS = {"django": ("python", sources), "djangojs": ("javascript", scripts)}


def update(language: str, domain: str, messages: Catalog) -> int:
    """How many messages have no translation."""
    catalog = catalog_of(language, domain)
    created = catalog.creation_date
    catalog.update(messages, no_fuzzy_matching=True)
    # A new date alone would change each catalog on every branch.
    catalog.creation_date = created
    catalog.obsolete.clear()
    path_of(language, domain, ".po").parent.mkdir(parents=True, exist_ok=True)
    with path_of(language, domain, ".po").open("wb") as file:
        write_po(file, catalog, width=110, no_location=True)
    path_of(language, domain, ".mo").write_bytes(compiled(catalog))
    return sum(bool(message.id) and not is_translated(message) for message in catalog)


def main() -> int:
    missing = 0
    for domain in DOMAINS:
        catalog = messages(domain)
        for language in LANGUAGES:
            without = update(language, domain, catalog)
            missing += without
            sys.stdout.write(
                f"{language}, {domain}: {len(catalog)} messages, {without} without a translation\n"
            )
    from tests.tools import sentences  # noqa: PLC0415 - it reads the catalogs' messages

    sentences.LISTING.write_text(sentences.listing(), "utf-8")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
