"""Refuses text that no box can hold before it is measured, because measuring long text is slow."""

import unicodedata

from printing.typesetting.template import Box

# Characters without a width take time as well.
CHARACTERS = 20_000
# Far more than any script needs; sorting them takes quadratic time.
MARKS_IN_A_ROW = 100
# In em; less than the width of any letter, even within a ligature.
NARROWEST = 0.05
SLACK = 0.05
MM = 72 / 25.4
# Their code points are letters, but nothing is drawn.
FILLERS = frozenset("\u115f\u1160\u17b4\u17b5\u3164\uffa0")


def overflow_reason(box: Box, content: str) -> str | None:
    """Why the text cannot fit this box at any size, or None. A box with Fit "clip" cuts off the rest."""
    if len(content) > CHARACTERS:
        return f"has more than {CHARACTERS:,} characters"
    if _most_marks(content) > MARKS_IN_A_ROW:
        return f"has more than {MARKS_IN_A_ROW} marks on one letter"
    if box.fit != "clip" and not _may_fit(box, [_letters(line) for line in content.split("\n")]):
        return "does not fit its box, even at the smallest size"
    return None


def _may_fit(box: Box, lines: list[int]) -> bool:
    """An estimate from the number of letters in each line alone."""
    narrowest = max(NARROWEST + min(box.tracking, 0), 0) * box.minimum_size
    width = box.width * MM + SLACK
    capacity = (box.height * MM + SLACK) / (box.minimum_size * box.line_spacing) + 1
    # Overlapping lines may take less height than a line each.
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
