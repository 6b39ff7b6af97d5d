"""What no box can hold, told before anything is measured: measuring takes time that grows with the text."""

import unicodedata

from stores.typesetting.template import Box

# Also what has no width of its own takes time.
CHARACTERS = 20_000
# Far more than any script stacks; sorting them takes time that grows with the square.
MARKS_IN_A_ROW = 100
# Less than any letter has, also as part of a ligature; in em.
NARROWEST = 0.05
SLACK = 0.05
MM = 72 / 25.4
# Their code points are letters, but nothing is drawn.
FILLERS = frozenset("\u115f\u1160\u17b4\u17b5\u3164\uffa0")


def overflow_reason(box: Box, content: str) -> str | None:
    """Why the text cannot be in this box at any size, or None; what is cut off fits."""
    if len(content) > CHARACTERS:
        return f"has more than {CHARACTERS:,} characters"
    if _most_marks(content) > MARKS_IN_A_ROW:
        return f"has more than {MARKS_IN_A_ROW} marks on one letter"
    if box.fit != "clip" and not _may_fit(box, [_letters(line) for line in content.split("\n")]):
        return "does not fit its place, even at the smallest size"
    return None


def _may_fit(box: Box, lines: list[int]) -> bool:
    """By the number of letters in each line alone."""
    narrowest = max(NARROWEST + min(box.tracking, 0), 0) * box.minimum_size
    width = box.width * MM + SLACK
    capacity = (box.height * MM + SLACK) / (box.minimum_size * box.line_spacing) + 1
    # Lines that overlap may take less than their share.
    if box.line_spacing >= 1 and sum(1 for count in lines if count) > capacity:
        return False
    if box.fit == "shrink":
        return max(lines) * narrowest <= width
    return box.line_spacing < 1 or sum(lines) * narrowest <= capacity * width


def _letters(line: str) -> int:
    return sum(1 for one in line if _has_width(unicodedata.category(one)) and one not in FILLERS)


def _has_width(category: str) -> bool:
    return category[0] not in "CMZ" and category != "Sk"


def _most_marks(content: str) -> int:
    most = run = 0
    for letter in content:
        run = run + 1 if unicodedata.category(letter)[0] == "M" else 0
        most = max(most, run)
    return most
