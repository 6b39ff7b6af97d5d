"""The sentences that people and integrators meet, in one listing that an editor reads: `tests/sentences.txt`.

`make messages` writes it. Those of pages and mails are in the catalogs; the others stand in the sources.
"""

import ast
from collections import defaultdict
from pathlib import Path

from tests.tools.catalogs import APPS, ROOT, messages
from tests.tools.source_texts import WORDS, sentences_in

LISTING = ROOT / "tests/sentences.txt"
FOLDERS = (*APPS, "printing", "clients/python/src")


def listing() -> str:
    """By app and part. Names of one or two words say no sentence."""
    parts = [
        f"# {area}\n" + "".join(f"{text}\n" for text in sorted(said))
        for area, texts in sorted(collected().items())
        if (said := {text for text in texts if len(WORDS.findall(text)) > 2})
    ]
    return "\n".join(parts)


def collected() -> dict[str, set[str]]:
    areas: dict[str, set[str]] = defaultdict(set)
    for message in messages("django"):
        if message.id and message.locations and not message.context:
            forms = message.id if isinstance(message.id, tuple) else (message.id,)
            areas[area_of(message.locations[0][0])].add(" | ".join(" ".join(form.split()) for form in forms))
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.py"):
            if "migrations" not in path.parts:
                module = ast.parse(path.read_text("utf-8"))
                areas[area_of(str(path.relative_to(ROOT)))].update(sentences_in(module, in_braces))
    return areas


def area_of(path: str) -> str:
    return "/".join(Path(path).with_suffix("").parts[:2])


def in_braces(expression: ast.AST) -> str:
    return f"{{{ast.unparse(expression)}}}"
