"""Pages and documents are spelled in one way, the American one."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
BRITISH = re.compile(
    r"(?i)\w*(?:colour|centre|authoris|recognis|behaviour|favour|organis|catalogue|licence|normalis|customis|minimis"
    r"|maximis|summaris|honour|labelled(?!by)|millimetre|\bgrey|synchronis|optimis|neighbour|capitalis|utilis)\w*"
)
# Code, links, tags and attributes keep their names.
MARKUP = re.compile(
    r"```.*?```|`[^`]*`|\]\([^)]*\)|<!--.*?-->|{%.*?%}|{{.*?}}|{#.*?#}|<code>.*?</code>|<[^>]*>", re.DOTALL
)


@pytest.mark.parametrize("folder", ["templates", "docs"])
def test_words_are_american(folder):
    files = [path for path in (ROOT / folder).rglob("*") if path.suffix in {".html", ".txt", ".md"}]
    words = {
        (path.relative_to(ROOT).as_posix(), word)
        for path in files
        for word in BRITISH.findall(MARKUP.sub(" ", path.read_text("utf-8")))
    }

    assert len(files) > 20
    assert words == set()
