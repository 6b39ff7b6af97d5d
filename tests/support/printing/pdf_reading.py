"""Reads a PDF's text as the PDF says it is meant: ToUnicode, ActualText, and strings written in reverse."""

import io
import re

import pypdf
from pypdf.generic import ContentStream

_PAIR = re.compile(rb"<([0-9A-Fa-f]{4})>\s*<([0-9A-Fa-f]+)>")
_RTL = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")


def written_text(pdf: bytes) -> str:
    """The text of the first page without white space; lines that begin from the right are read from there."""
    page = pypdf.PdfReader(io.BytesIO(pdf), strict=True).pages[0]
    lines: dict[float, list[tuple[float, str]]] = {}
    for x, y, text in _runs(page):
        lines.setdefault(round(y), []).append((x, text))
    return "".join(_line(runs) for _, runs in sorted(lines.items(), reverse=True))


def _line(runs):
    ordered = [text for _, text in sorted(runs, key=lambda run: run[0])]
    from_right = _RTL.search("".join(ordered)) is not None
    return "".join("".join(reversed(ordered) if from_right else ordered).split())


def _runs(page):
    """Each show operation: where it begins, and the characters it stands for in reading order."""
    reader = _Reader(page)
    for operands, operator in ContentStream(page.get_contents(), page.pdf).operations:
        if operator in {b"Tj", b"TJ"}:
            yield *reader.position, reader.shown(operands[0] if operator == b"TJ" else operands)
        elif (step := reader.steps.get(operator)) is not None:
            step(operands)


class _Reader:
    """As much of a PDF's graphics state as Typst uses."""

    def __init__(self, page):
        fonts = page["/Resources"]["/Font"].items()
        self.maps = {name: _to_unicode(font.get_object()) for name, font in fonts}
        self.font, self.place, self.offset = {}, (0.0, 0.0), 0.0
        self.kept, self.marks, self.reported = [], [], set()
        self.steps = {
            b"q": lambda _: self.kept.append(self.place),
            b"Q": lambda _: setattr(self, "place", self.kept.pop()),
            b"cm": lambda operands: setattr(self, "place", (float(operands[4]), float(operands[5]))),
            b"Tf": lambda operands: setattr(self, "font", self.maps[operands[0]]),
            b"Tm": lambda operands: setattr(self, "offset", float(operands[4])),
            b"BMC": self.mark,
            b"BDC": self.mark,
            b"EMC": lambda _: self.marks.pop(),
        }

    @property
    def position(self):
        return self.place[0] + self.offset, self.place[1]

    def mark(self, operands):
        properties = operands[1] if len(operands) > 1 and isinstance(operands[1], dict) else {}
        self.marks.append((str(operands[0]), properties.get("/ActualText"), object()))

    def shown(self, strings):
        actual = next((mark for mark in reversed(self.marks) if mark[1] is not None), None)
        if actual is not None:
            # It stands once for all that is shown inside of it.
            first = actual[2] not in self.reported
            self.reported.add(actual[2])
            return str(actual[1]) if first else ""
        codes = b"".join(part.original_bytes for part in strings if hasattr(part, "original_bytes"))
        letters = [self.font.get(codes[at : at + 2], "\ufffd") for at in range(0, len(codes), 2)]
        is_reversed = any(name == "/ReversedChars" for name, *_ in self.marks)
        return "".join(reversed(letters) if is_reversed else letters)


def _to_unicode(font):
    content = font["/ToUnicode"].get_data()
    return {
        bytes.fromhex(code.decode()): bytes.fromhex(text.decode()).decode("utf-16-be")
        for code, text in _PAIR.findall(content[content.index(b"endcodespacerange") :])
    }
