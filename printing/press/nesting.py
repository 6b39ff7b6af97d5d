"""How deeply the objects of a PDF are nested: programs copy them by recursion, in threads with small stacks."""

import re
from dataclasses import dataclass
from typing import Any

import pikepdf

Number = tuple[int, int]
# Characters of a name, as it is written. PDF allows 127 bytes, each of which may take three characters.
NAME = 500
# Strings come first: they can contain anything.
_TOKENS = re.compile(
    rb"\((?:[^\\)]++|\\.)*+\)|(?P<begin><<|\[)|(?P<end>>>|\])|\b(\d+) (\d+) R\b|(?P<long>/[^\s/<>\[\]()]{%d})"
    % NAME,
    re.DOTALL,
)
# Nodes of the page tree: who copies one page does not follow references to others.
_PAGES = frozenset({"/Page", "/Pages"})


class LongName(ValueError):
    """A name that takes megabytes takes them again in each finding about it."""


@dataclass(slots=True)
class _ReadObject:
    """An object, while those that it refers to are read. Objects that lead back to each other are a cycle."""

    position: int
    size: int
    unread: list[Number]
    # The first object of its cycle, as far as it is known.
    first: int
    # The deepest way within the cycle, and from here to others; `depth` is known when the whole cycle is.
    within: int = 0
    below: int = 0
    depth: int | None = None
    is_open: bool = True
    is_entry: bool = False

    def note(self, other: "_ReadObject") -> None:
        if other.depth is not None:
            self.below = max(self.below, other.depth)
            return
        self.first = min(self.first, other.first)
        if other.is_open:
            other.is_entry = True
        else:
            self.within = max(self.within, other.within)


def depth_of(pdf: pikepdf.Pdf) -> int:
    """The deepest of its pages."""
    nesting = _Nesting(pdf)
    return max(nesting.depth(page.obj) for page in pdf.pages)


class _Nesting:
    """Reads each object once, and without recursion."""

    def __init__(self, pdf: pikepdf.Pdf) -> None:
        self._pdf = pdf
        self._objects: dict[Number, _ReadObject] = {}
        # Objects whose cycle is not read to its end.
        self._cycles: list[_ReadObject] = []

    def depth(self, page: Any) -> int:
        """How many dictionaries and arrays a reader can be inside at the same time, if it follows references and
        enters each object once. Cycles may count for more, but not for more than all of their objects."""
        path = [start := self._meet_object(page.objgen, _write_text(page))]
        while path:
            current = path[-1]
            if not current.unread:
                path.pop()
                self._close_objects(current)
            elif (other := self._objects.get(current.unread[-1])) is not None:
                current.unread.pop()
                current.note(other)
            else:
                number = current.unread[-1]
                referred = self._pdf.get_object(number)
                path.append(self._meet_object(number, b"" if _is_page(referred) else _write_text(referred)))
        return start.depth or 0

    def _meet_object(self, number: Number, text: bytes) -> _ReadObject:
        position = len(self._cycles)
        entered = self._objects[number] = _ReadObject(position, *_read_nesting(text), first=position)
        self._cycles.append(entered)
        return entered

    def _close_objects(self, closed: _ReadObject) -> None:
        closed.is_open = False
        closed.within += closed.size
        if closed.first < closed.position:
            return
        cycle = self._cycles[closed.position :]
        del self._cycles[closed.position :]
        entries = sum(other.is_entry for other in cycle)
        within = (entries + 1) * max(other.within for other in cycle)
        depth = min(within, sum(other.size for other in cycle)) + max(other.below for other in cycle)
        for other in cycle:
            other.depth = depth


def _write_text(item: Any) -> bytes:
    if not isinstance(item, pikepdf.Object):
        return b""
    return (item.stream_dict if isinstance(item, pikepdf.Stream) else item).unparse(resolved=True)


def _is_page(item: Any) -> bool:
    return isinstance(item, pikepdf.Dictionary) and "/Type" in item and str(item.Type) in _PAGES


def _read_nesting(text: bytes) -> tuple[int, list[Number]]:
    """How deep the dictionaries and arrays of an object lie in each other, and the objects that it refers to."""
    deepest, depth, referred = 0, 0, []
    for token in _TOKENS.finditer(text):
        if token["begin"]:
            depth += 1
            deepest = max(deepest, depth)
        elif token["end"]:
            depth -= 1
        elif token["long"]:
            raise LongName
        elif token[3]:
            referred.append((int(token[3]), int(token[4])))
    return deepest, referred
