"""Measures the prose of the documents: their sentences without code, tables and headings.

`python -m tests.tools.prose` prints the figures, and each sentence that a rule finds.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[2]
MAX_WORDS = 28
# A bracket of so many words interrupts the sentence.
LONG_BRACKET = 9
CODE_BLOCK = re.compile(r"^ *(```|~~~).*?^ *\1", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
CODE = re.compile(r"`+[^`]*`+")
MARKUP = re.compile(r"[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}")
BULLET = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
WORD = re.compile(r"[A-Za-zÀ-ÿ0-9][A-Za-zÀ-ÿ0-9'’.,/-]*")
END = re.compile(r"(?<=[.!?])[\"')”]*\s+(?=[\"'(“]?[A-Z0-9])")
BACKWARDS = re.compile(r"\bthat of\b|\bof which\b|\bwhat is\b", re.IGNORECASE)
CHAIN = re.compile(r"\bof\b(?:\W+\w+){1,3}?\W+of\b(?:\W+\w+){1,3}?\W+of\b", re.IGNORECASE)
VOWELS = re.compile(r"[aeiouy]+")
BRITISH = re.compile(
    r"\b(?:colou?r(?<!color)\w*|centre[ds]?\b|\w*authoris\w+|\w*organis\w+|\w*recognis\w+|behaviours?|favou?r(?<!favor)\w*"
    r"|\w*normalis\w+|\w*initialis\w+|\w*serialis\w+|\w*neutralis\w+|\w*summaris\w+|\w*personalis\w+|\w*minimis\w+"
    r"|\w*optimis(?:e|ed|es|ing|ation)\b|\w*finalis\w+|\w*synchronis\w+|\w*customis\w+|catalogues?|grey\w*|licence[sd]?"
    r"|cancell(?:ed|ing)|labell(?:ed|ing)|travell\w+|modell\w+|signall(?:ed|ing)|cheques?|fulfil(?:s|led|ment)?\b"
    r"|programmes?|analys(?:e|ed|ing)\b|defence|offence|honour\w*|neighbour\w*|metres?|millimetres?|litres?)\b",
    re.IGNORECASE,
)
# The product spells this status so. Elsewhere it is "canceled": docs/style.md.
ALLOWED = {"Cancelled"}


@dataclass
class Prose:
    """The sentences of a document, and those that each rule finds."""

    path: Path
    sentences: list[str]
    found: dict[str, list[str]] = field(default_factory=dict)

    @property
    def grade(self) -> float:
        """Flesch-Kincaid: the school year that reads the text with ease. Short documents have no stable one."""
        words = [word for sentence in self.sentences for word in WORD.findall(sentence)]
        if len(self.sentences) < 8:
            return 0.0
        syllables = sum(map(syllables_of, words))
        return 0.39 * len(words) / len(self.sentences) + 11.8 * syllables / len(words) - 15.59


def syllables_of(word: str) -> int:
    plain = re.sub(r"[^a-z]", "", word.lower())
    silent = plain.endswith("e") and not plain.endswith(("le", "ee"))
    return max(1, len(VOWELS.findall(plain)) - silent)


def documents() -> list[Path]:
    return sorted(
        [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "clients").glob("*/README.md")]
    )


def sentences_of(text: str) -> Iterator[str]:
    """Each sentence on one line, with a word for each piece of code."""
    text = COMMENT.sub("", CODE_BLOCK.sub("\n\n", text))
    paragraphs: list[list[str]] = [[]]
    for line in text.splitlines():
        stripped = line.strip()
        if not stripped or stripped.startswith(("#", "|", ">", "<")):
            paragraphs.append([])
        elif BULLET.match(line):
            paragraphs.append([BULLET.sub("", line).strip()])
        else:
            paragraphs[-1].append(stripped)
    for lines in paragraphs:
        joined = MARKUP.sub("", CODE.sub("Code", LINK.sub(r"\1", " ".join(lines))))
        yield from (part.strip() for part in END.split(joined) if len(WORD.findall(part)) > 1)


def is_long(sentence: str) -> bool:
    return len(WORD.findall(sentence)) > MAX_WORDS


def is_broken(sentence: str) -> bool:
    marks = len(re.findall(r"[:;](?=\s)", sentence))
    brackets = re.findall(r"\(([^()]*)\)", sentence)
    return marks >= 2 or any(len(WORD.findall(inside)) >= LONG_BRACKET for inside in brackets)


def british_words(sentence: str) -> list[str]:
    return [word for word in BRITISH.findall(sentence) if word not in ALLOWED]


RULES = {
    "more than 28 words": is_long,
    "two colons or a long bracket": is_broken,
    "that of, of which, what is": lambda sentence: bool(BACKWARDS.search(sentence)),
    "of … of … of": lambda sentence: bool(CHAIN.search(sentence)),
    "British spelling": lambda sentence: bool(british_words(sentence)),
}


def read_prose(path: Path) -> Prose:
    prose = Prose(path, list(sentences_of(path.read_text("utf-8"))))
    prose.found = {
        name: [sentence for sentence in prose.sentences if rule(sentence)] for name, rule in RULES.items()
    }
    return prose


def shares(all_prose: list[Prose]) -> dict[str, float]:
    """Of each rule, the percentage of all sentences that it finds."""
    count = sum(len(prose.sentences) for prose in all_prose)
    return {name: 100 * sum(len(prose.found[name]) for prose in all_prose) / count for name in RULES}


def main() -> None:
    all_prose = [read_prose(path) for path in documents()]
    for prose in all_prose:
        for name, sentences in prose.found.items():
            for sentence in sentences:
                sys.stdout.write(f"{prose.path.relative_to(ROOT)}: {name}: {sentence}\n")
    for name, share in shares(all_prose).items():
        sys.stdout.write(f"{share:5.1f}%  {name}\n")
    grades = sorted((prose.grade, str(prose.path.relative_to(ROOT))) for prose in all_prose if prose.grade)
    sys.stdout.write(f"Grade: median {median(grade for grade, _ in grades):.1f}, worst {grades[-4:]}\n")


if __name__ == "__main__":
    main()
