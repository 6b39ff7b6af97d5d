"""A language for tests: each message with accents and 40% longer, so that other texts show by their letters."""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import django.conf
from babel.messages.catalog import Message
from babel.messages.pofile import read_po
from django.apps import apps
from lxml import etree, html

from tests.tools.catalogs import APPS, ROOT, compiled, messages

PSEUDO = "xx"
LETTERS = str.maketrans("aeiouyAEIOUncs", "áéíóúýÁÉÍÓÚñçš")
# What is filled in, and what else stays.
FILLED = re.compile(r"%\(\w+\)[a-z]|\{\w+\}|%[12s]")
KEPT = re.compile(r"(%\(\w+\)[a-z]|%%|%[12s]|\{\w+\}|<[^>]*>|&#?\w+;)")
# The same in every language.
NAMES = {
    "Store Fulfillment",
    "Python",
    "JavaScript",
    "curl",
    "EDDM",
    "ZIP",
    "API",
    "UTC",
    "PNG",
    "JPEG",
    "CSV",
    "XLSX",
    "Ctrl",
}

# Records of the tests that read like a text of a template.
RECORDS = {
    "Not yet",
    "E-mail",
    "Name",
    "Job",
    "Mail",
    # An operation, as the reference names it.
    "Read a store",
    "Website",
    "Everything",
    "Ground",
    "Operator",
    "Print",
    "associated",
    "csv",
    "default",
    "press",
    "synthetic demo counts",
    "All owners have the same rights. Check who is invited, and withdraw invitations you do not recognize.",
}
# What is no text for people, or the same in every language.
UNSEEN = {"script", "style", "code", "pre", "option", "svg"}


def lengthened(text: str) -> str:
    parts = KEPT.split(text)
    written = sum(len(part) for part in parts[::2])
    parts[::2] = [part.translate(LETTERS) for part in parts[::2]]
    return "".join(parts) + (" " + "ôôôô ô" * (1 + round(written * 0.4) // 6))[: 1 + round(written * 0.4)]


def write_pseudo(folder: Path) -> None:
    """Its catalog, for LOCALE_PATHS."""
    place = folder / PSEUDO / "LC_MESSAGES"
    place.mkdir(parents=True)
    (place / "django.mo").write_bytes(_compiled_pseudo())


def _compiled_pseudo() -> bytes:
    """With what Django and the libraries translate themselves."""
    catalog = messages("django")
    for message in _of_libraries():
        catalog.add(message.id, context=message.context)
    catalog.locale = PSEUDO  # type: ignore[assignment]  # Babel asks for one it knows
    for message in catalog:
        if not message.id:
            continue
        forms = message.id if isinstance(message.id, tuple) else (message.id,)
        said = tuple(lengthened(form) for form in forms)
        message.string = said if isinstance(message.id, tuple) else said[0]
    return compiled(catalog)


def _of_libraries() -> Iterator[Message]:
    libraries = [Path(config.path) for config in apps.get_app_configs()]
    for library in [Path(django.conf.__file__).parent, *libraries]:
        path = library / "locale/de/LC_MESSAGES/django.po"
        if path.is_file() and not library.is_relative_to(ROOT / "fulfillment"):
            with path.open("rb") as file:
                yield from (message for message in read_po(file) if message.id and message.string)


def read_texts(page: str) -> set[str]:
    """The texts of a page that people read."""
    tree = html.document_fromstring(page or "<p>")
    texts = tree.xpath("//@aria-label | //@placeholder | //@alt | //@title")
    for hidden in [
        element
        for element in tree.iter()
        if element.tag in UNSEEN or "material-symbols" in element.get("class", "")
    ]:
        hidden.drop_tree()
    return {" ".join(text.split()) for text in (*texts, *tree.itertext(etree.Element)) if text.strip()}


class Sources:
    """The texts of the templates, and those of Python with anything in place of what is filled in."""

    def __init__(self) -> None:
        self._templates = "\n".join(path.read_text("utf-8") for path in (ROOT / "templates").rglob("*.html"))
        self._texts: set[str] = set()
        # Of each, what stays; None stands for what is filled in.
        self._filled: list[list[str | None]] = []
        self._held: dict[str, bool] = {}
        for app in (*APPS, "printing"):
            for path in (ROOT / app).rglob("*.py"):
                if not {"migrations", "management", "demo", "examples.py", "event_types.py"} & set(
                    path.parts
                ):
                    self._read(ast.parse(path.read_text("utf-8")))

    def _read(self, module: ast.Module) -> None:
        for node in ast.walk(module):
            match node:
                case ast.Constant(value=str(text)):
                    self._texts.add(" ".join(text.split()))
                case ast.JoinedStr(values=parts):
                    kept = [part.value if isinstance(part, ast.Constant) else None for part in parts]
                    if len(re.findall(r"[A-Za-z]{3}", "".join(text_part or "" for text_part in kept))) > 1:
                        self._filled.append(kept)

    def hold(self, text: str) -> bool:
        if text not in self._held:
            self._held[text] = self._find(text)
        return self._held[text]

    def _find(self, text: str) -> bool:
        # Shorter ones are data as often.
        is_sentence = sum(word.isalpha() and word.islower() for word in text.split()) > 1
        in_template = rf"(?<=[>\"']){re.escape(text)}(?=[<\"'{{.])"
        return (text in self._templates and bool(re.search(in_template, self._templates))) or (
            is_sentence and (text in self._texts or any(_is_filled(kept, text) for kept in self._filled))
        )


def _is_filled(kept: list[str | None], text: str) -> bool:
    if not all(fixed in text for fixed in kept if fixed):
        return False
    return bool(re.fullmatch("".join(".+" if fixed is None else re.escape(fixed) for fixed in kept), text))


def plain_texts(answers: Iterable[tuple[str, Any]], sources: Sources) -> str:
    """Texts in plain letters that the sources hold as they are, a line each: what the database holds is nobody's to
    translate. `answers` are pairs of path and response."""
    texts: dict[str, str] = {}
    for path, response in answers:
        if response.get("Content-Type", "").startswith("text/html"):
            for text in read_texts(response.content.decode()) - NAMES - RECORDS:
                if re.search(r"[A-Za-z]{3}", text) and text.isascii() and sources.hold(text):
                    texts.setdefault(text, path)
    return "\n".join(f"{path}: {text}" for text, path in sorted(texts.items()))
