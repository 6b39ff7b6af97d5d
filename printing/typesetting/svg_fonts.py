"""The fonts of an SVG's letters, by the names that Typst knows them by."""

import re

from printing.typesetting.fonts import OWN_END

# Longer lists of families are left as they are.
LONGEST = 1000
_TAG = re.compile(rb"""<[^\s<>/!?]++(?:\s++[^\s=<>]++\s*+=\s*+(?:"[^"]*+"|'[^']*+'))++""")
_ATTRIBUTE = re.compile(rb"""(\s([^\s=<>]++)\s*+=\s*+)("[^"]*+"|'[^']*+')""")
# The semicolon of an entity, such as &quot;, ends no declaration.
_DECLARATION = re.compile(
    rb"""((?<![\w-])font-family\s*:)((?:[^;&"']|&[#\w]+;|"[^"]*"|'[^']*')++)""", re.IGNORECASE
)
_QUOTE = rb"""["']|&(?:quot|apos|#34|#39|#x22|#x27);"""
_QUOTES = re.compile(rb"^(?:%b)|(?:%b)$" % (_QUOTE, _QUOTE), re.IGNORECASE)


def name_own_fonts(svg: bytes) -> bytes:
    """Names before each family the operator's font of that name, as `FontSet.write_fonts` calls it."""
    return _TAG.sub(lambda tag: _ATTRIBUTE.sub(_name_in_attribute, tag[0]), svg)


def _name_in_attribute(attribute: re.Match[bytes]) -> bytes:
    name, delimiter, value = attribute[2].lower(), attribute[3][:1], attribute[3][1:-1]
    quote = b"'" if delimiter == b'"' else b'"'
    if name == b"font-family":
        value = _name_in_list(value, quote)
    elif name == b"style":
        value = _DECLARATION.sub(lambda found: found[1] + _name_in_list(found[2], quote), value)
    return attribute[1] + delimiter + value + delimiter


def _name_in_list(families: bytes, quote: bytes) -> bytes:
    if len(families) > LONGEST or families.strip() == b"inherit":
        return families
    named = []
    for family in families.split(b","):
        name = _QUOTES.sub(b"", family.strip())
        named += [quote + name + OWN_END.encode() + quote, family]
    return b",".join(named)
