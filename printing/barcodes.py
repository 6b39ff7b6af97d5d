"""Encodes texts as QR codes and Code 128, as runs of dark modules."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import groupby, takewhile

import segno
from segno.encoder import DataOverflowError

# Smaller modules cannot be read by a phone's camera or a hand scanner at arm's length.
SMALLEST_QR_MODULE_MM = 0.3
SMALLEST_BAR_MM = 0.16
QR_QUIET_MODULES = 4
BAR_QUIET_MODULES = 10

# The bars and spaces of Code 128's symbols 0 to 105, six widths each; the stop symbol has seven.
_CODE_128 = (
    "212222222122222221121223121322131222122213122312132212221213221312231212112232122132122231113222"
    "123122123221223211221132221231213212223112312131311222321122321221312212322112322211212123212321"
    "232121111323131123131321112313132113132311211313231113231311112133112331132131113123113321133121"
    "313121211331231131213113213311213131311123311321331121312113312311332111314111221411431111111224"
    "111422121124121421141122141221112214112412122114122411142112142211241211221114413111241112134111"
    "111242121142121241114212124112124211411212421112421211212141214121412121111143111341131141114113"
    "114311411113411311113141114131311141411131211412211214211232"
)
_STOP = "2331112"
_START_B, _START_C, _TO_B, _TO_C = 104, 105, 100, 99

Runs = tuple[tuple[int, int, int], ...]


class NotEncodable(ValueError):
    """Text that the code cannot encode; the message has the reason."""


# A code takes some milliseconds, and a large one half a megabyte; most proofs of a template have the same one.
@lru_cache(maxsize=32)
def qr_runs(text: str) -> tuple[int, Runs]:
    """Encode as a QR code: its size in modules with quiet zone, and dark runs as (column, row, length)."""
    # Readers take short texts in Latin-1, such as a price in pounds, for Japanese.
    encoding = "utf-8" if max(text) < "\u0100" else None
    try:
        code = segno.make_qr(text, error="m", boost_error=True, encoding=encoding)
    except DataOverflowError as error:
        raise NotEncodable("is too long for a QR code") from error
    rows = list(code.matrix_iter(border=QR_QUIET_MODULES))
    runs = tuple((start, line, length) for line, row in enumerate(rows) for start, length in _dark_runs(row))
    return len(rows), runs


def code_128_runs(text: str) -> tuple[int, Runs]:
    """Encode as Code 128 (sets B and C): its width in modules with quiet zones, and its bars."""
    for letter in text:
        if not " " <= letter <= "~":
            raise NotEncodable(f"contains {letter!r}; Code 128 carries ASCII letters, digits and signs only")
    if len(text) > 80:
        raise NotEncodable("is longer than 80 characters, too long for Code 128")
    symbols = _encode_symbols(text)
    check = (symbols[0] + sum(position * symbol for position, symbol in enumerate(symbols))) % 103
    widths = "".join(_CODE_128[6 * symbol : 6 * symbol + 6] for symbol in [*symbols, check]) + _STOP
    runs, column = [], BAR_QUIET_MODULES
    for position, width in enumerate(map(int, widths)):
        if position % 2 == 0:
            runs.append((column, 0, width))
        column += width
    return column + BAR_QUIET_MODULES, tuple(runs)


def _encode_symbols(text: str) -> list[int]:
    """Choose set C for runs of digits where that is shorter: 4 or more at an end, 6 or more inside."""
    symbols: list[int] = []
    position, in_c = 0, False
    while position < len(text):
        digits = sum(1 for _ in takewhile(str.isdigit, text[position:]))
        at_end = position == 0 or position + digits == len(text)
        if not in_c and digits >= (4 if at_end else 6) and digits % 2 == 0:
            symbols.append(_TO_C if symbols else _START_C)
            in_c = True
        elif in_c and digits < 2:
            symbols.append(_TO_B)
            in_c = False
        elif not symbols:
            symbols.append(_START_B)
        if in_c:
            symbols.append(int(text[position : position + 2]))
            position += 2
        else:
            symbols.append(ord(text[position]) - 32)
            position += 1
    return symbols or [_START_B]


def _dark_runs(row: Iterable[int]) -> Iterator[tuple[int, int]]:
    for dark, cells in groupby(enumerate(row), key=lambda cell: bool(cell[1])):
        if dark:
            (start, _), *others = cells
            yield start, 1 + len(others)
