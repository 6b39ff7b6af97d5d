"""Counts what an SVG draws once its references are followed.

Ten patterns, masks or `use` elements that name one another twice make a thousand shapes, thirty a thousand million.
"""

import re
from collections import Counter
from collections.abc import Mapping

LOADING = frozenset({"image", "feimage"})
GRADIENTS = frozenset({"lineargradient", "radialgradient"})
REFERRING = GRADIENTS | {"a", "use", "pattern", "mask", "clippath", "marker", "filter", "textpath", "mpath"}
SVG_REFERENCES = 2_000
SVG_DRAWN = 100_000
SVG_NESTED = 8

_NAME = re.compile(r"#([^#/\\\s]+)")
_URL = re.compile(r"url\(\s*+['\"]?+\s*+#([^)'\"]*)", re.IGNORECASE)
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_NUMBER = re.compile(r"[0-9.]+")
_MARKERS = ("marker-start", "marker-mid", "marker-end")
_INHERITED = frozenset({"fill", "stroke", *_MARKERS})

# Each tuple of names stands for the product of the elements that these names draw.
References = Counter[tuple[str, ...]]


def named_element(target: str) -> str | None:
    """The element of the same SVG that an href names; None for an address or a path."""
    match = _NAME.fullmatch(target)
    return match[1] if match else None


class TooComplex(ValueError):
    """The references of an SVG draw more elements than allowed."""


class _Part:
    """An element with all its descendants: their number and their references."""

    def __init__(self, name: str | None, inherited: Mapping[str, list[str]], *, is_gradient: bool) -> None:
        self.name, self.inherited, self.is_gradient = name, inherited, is_gradient
        self.elements = 1
        self.references: References = Counter()


class SvgReferences:
    """Call `start` and `end` for each element of an SVG in document order, then `check`."""

    def __init__(self) -> None:
        self._open: list[_Part] = []
        self._named: dict[str, list[_Part]] = {}
        self._whole = _Part(None, {}, is_gradient=False)
        self._counts: dict[str, tuple[int, int]] = {}
        self._paints = 0

    def start(self, element: str, attributes: Mapping[str, str]) -> None:
        outer = self._open[-1] if self._open else self._whole
        names_by_key = {key: _find_names(text) for key, text in read_properties(attributes).items()}
        # Read once, and each name once: as many as 20,000 elements inherit them.
        inherited = {
            key: list(dict.fromkeys(names)) for key, names in names_by_key.items() if key in _INHERITED
        }
        in_force = {**outer.inherited, **inherited} if inherited else outer.inherited
        part = _Part(attributes.get("id"), in_force, is_gradient=element in GRADIENTS)
        self._open.append(part)
        paints = [name for key, names in names_by_key.items() if key not in _INHERITED for name in names]
        for name in paints:
            part.references[(name,)] += 1
        self._inherit_paint(part, element, attributes)
        self._paints += len(part.references)
        # Each of them is added up once for each surrounding element.
        if self._paints > 10 * SVG_REFERENCES:
            raise TooComplex(f"At most {10 * SVG_REFERENCES:,} uses of gradients and patterns are allowed.")

    def _inherit_paint(self, part: _Part, element: str, attributes: Mapping[str, str]) -> None:
        """Fill, stroke and markers apply to every shape inside of the element that sets them."""
        points = 0
        paints = [(key, name) for key, names in part.inherited.items() for name in names]
        if any(key in _MARKERS for key, _ in paints):
            points = sum(len(_NUMBER.findall(attributes.get(key, ""))) for key in ("d", "points"))
        target = _read_href(attributes) if element != "a" else None
        if target is not None:
            part.references[(target,)] += 1
        for key, name in paints:
            if key in _MARKERS and target is not None:
                raise TooComplex("use is not allowed inside of an element with markers.")
            part.references[(name,) if target is None else (target, name)] += points if key in _MARKERS else 1

    def end(self) -> None:
        part = self._open.pop()
        outer = self._open[-1] if self._open else self._whole
        outer.elements += part.elements
        outer.references.update(part.references)
        if part.name is not None:
            self._named.setdefault(part.name.strip(), []).append(part)

    def check(self) -> None:
        """Raise TooComplex if too much is drawn, or an element is drawn within itself."""
        references = sum(
            count
            for names, count in self._whole.references.items()
            if not all(part.is_gradient for part in self._named.get(names[0], []))
        )
        if references > SVG_REFERENCES:
            raise TooComplex(f"At most {SVG_REFERENCES:,} references are allowed.")
        if self._drawn_by(self._whole, ())[0] > SVG_DRAWN:
            raise TooComplex(f"Its references draw more than {SVG_DRAWN:,} elements.")

    def _drawn_by(self, part: _Part, within: tuple[str, ...]) -> tuple[int, int]:
        """The number of elements that this one draws, and the depth of its references."""
        total, deepest = part.elements, 0
        for names, count in part.references.items():
            product = count
            for name in names:
                count_drawn, depth = self._drawn_under(name, within)
                product *= count_drawn
                deepest = max(deepest, depth)
            total += product
        return total, deepest

    def _drawn_under(self, name: str, within: tuple[str, ...]) -> tuple[int, int]:
        if name in within:
            raise TooComplex(f"The element {name[:40]} refers to itself.")
        if name not in self._counts and len(within) < SVG_NESTED:
            parts_drawn = [self._drawn_by(part, (*within, name)) for part in self._named.get(name, [])]
            total = sum(count for count, _ in parts_drawn)
            deepest = max((depth for _, depth in parts_drawn), default=0)
            self._counts[name] = max(1, total), deepest + 1
        count, depth = self._counts.get(name, (1, 1))
        if len(within) + depth > SVG_NESTED:
            raise TooComplex(f"References may go through {SVG_NESTED} elements, one to the next.")
        return count, depth


def read_properties(attributes: Mapping[str, str]) -> dict[str, str]:
    """The attributes, overridden by the style attribute."""
    properties = {key.rpartition(":")[2].lower(): value.strip() for key, value in attributes.items()}
    style = _COMMENT.sub("", properties.pop("style", ""))
    for declaration in style.split(";"):
        key, _, value = declaration.partition(":")
        if value:
            properties[key.strip().lower()] = value.strip()
    if "marker" in properties:
        marker = properties.pop("marker")
        properties |= dict.fromkeys(_MARKERS, marker)
    return properties


def _find_names(value: str) -> list[str]:
    return [name.strip() for name in _URL.findall(value)] if "(" in value else []


def _read_href(attributes: Mapping[str, str]) -> str | None:
    targets = [value for key, value in attributes.items() if key.rpartition(":")[2].lower() == "href"]
    return next((name for target in targets if (name := named_element(target.strip()))), None)
