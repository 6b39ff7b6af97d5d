"""Which letters each font has, and the fonts to fall back on for a text, so that no proof shows empty boxes."""

import hashlib
import importlib.util
import io
import threading
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, reduce
from operator import and_
from pathlib import Path

from fontTools.ttLib import TTCollection, TTFont

from printing.bounded import TaskFailed, run_bounded
from printing.typesetting.errors import FontInvalid, InputProblem

FONT_BYTES = 20_000_000
# For an upload: a few kilobytes can name billions of characters.
READING_SECONDS, READING_BYTES = 15.0, 512 << 20

# Each folder has the licence of its fonts beside them.
SHIPPED_FONTS = Path(__file__).with_name("shipped_fonts")
# 33 MB, so it comes as a package. An installation may leave it out; Chinese, Japanese and Korean are then refused
# instead of printed as empty boxes.
CJK_PACKAGE = "manimgx_fonts_cjk"

_CJK = "Noto Sans CJK "
# Preferred to Noto Sans Arabic, which draws a letter's dots as separate glyphs: copied text has the letter twice.
_ARABIC = "IBM Plex Sans Arabic"
# Ends the families of operators' fonts for Typst, which cuts words such as Black or Condensed off the end of a name.
OWN_END = " ."
_JOINERS = "\u200c\u200d"
_IGNORABLE = frozenset("\u00ad\u034f\u061c\u200b\u2060\ufeff" + _JOINERS) | {
    chr(code)
    for span in ((0x200E, 0x2010), (0x202A, 0x202F), (0x2066, 0x206A), (0xFE00, 0xFE10))
    for code in range(*span)
}


@dataclass(frozen=True, slots=True)
class FontFace:
    """One face of a font file: its family, its weight (or range of weights), and whether it is italic.

    `is_own` for one of an operator's files.
    """

    path: Path
    index: int
    family: str
    weights: tuple[int, int]
    italic: bool
    is_own: bool = False


class CodePoints:
    """A set of code points, a bit for each: as a set of numbers, those of all shipped fonts take 20 MB."""

    __slots__ = ("_bits",)

    def __init__(self, points: Iterable[int] = ()) -> None:
        bits = bytearray(0x110000 // 8)
        for point in points:
            bits[point >> 3] |= 1 << (point & 7)
        self._bits = bytes(bits.rstrip(b"\0"))

    def __contains__(self, point: int) -> bool:
        index = point >> 3
        return index < len(self._bits) and bool(self._bits[index] >> (point & 7) & 1)

    def __and__(self, other: "CodePoints") -> "CodePoints":
        common = CodePoints()
        common._bits = bytes(map(int.__and__, self._bits, other._bits))
        return common


@dataclass(frozen=True)
class FontSet:
    """The fonts a rendering may use: shipped text families, script fallbacks, and operators' fonts."""

    faces: tuple[FontFace, ...]
    fallbacks: tuple[str, ...]
    _covered: dict[str, CodePoints] = field(default_factory=dict, compare=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, compare=False, repr=False)

    @staticmethod
    @cache
    def shipped() -> "FontSet":
        """Find the font files; cheap after the first call."""
        faces = tuple(face for path in _font_files() for face in _read_faces(path))
        families = sorted({face.family for face in faces})
        scripts = [
            family for family in families if family.startswith("Noto Sans") and not family.startswith(_CJK)
        ]
        last_families = [family for family in families if family.startswith(("Noto Emoji", _CJK))]
        scripts.sort(key=len)
        if _ARABIC in families:
            scripts.insert(1, _ARABIC)
        return FontSet(faces, (*scripts, *sorted(last_families, reverse=True)))

    def with_files(self, paths: Iterable[Path]) -> "FontSet":
        """Add an operator's checked font files (see open_font); their families become usable."""
        added = tuple(replace(face, is_own=True) for path in paths for face in _read_faces(Path(path)))
        return FontSet(self.faces + added, self.fallbacks)

    @property
    def families(self) -> frozenset[str]:
        return frozenset(face.family for face in self.faces) - {
            fallback for fallback in self.fallbacks if fallback != "Noto Sans"
        }

    def typst_names(self, families: Iterable[str]) -> list[str]:
        """The names of these families in the files of `write_fonts`."""
        own = {face.family for face in self.faces if face.is_own}
        return [family + OWN_END if family in own else family for family in families]

    def write_fonts(self, folder: Path, copies: Path) -> None:
        """Links to the shipped files, and to copies of the operators', which all sets share."""
        own = {str(face.path) for face in self.faces if face.is_own}
        for number, path in enumerate(self.paths):
            file = Path(path)
            if path in own:
                file = copies / f"{font_digest([path])}{file.suffix}"
                if not file.exists():
                    _write_renamed(Path(path), part := file.with_suffix(".part"))
                    part.rename(file)
            (folder / f"{number}{file.suffix}").symlink_to(file.resolve())

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(str(face.path) for face in self.faces))

    def code_points(self, family: str) -> CodePoints:
        """The code points every face of the family can draw."""
        with self._lock:
            if family not in self._covered:
                faces = [face for face in self.faces if face.family == family]
                maps = [_code_points(str(face.path), face.index) for face in faces]
                self._covered[family] = reduce(and_, maps) if maps else CodePoints()
            return self._covered[family]

    def chain(self, family: str, text: str) -> tuple[tuple[str, ...], str | None]:
        """The families needed to draw the text, and the first character that no family has.

        A base letter and its marks must come from one family: Typst shapes a cluster as a whole.
        """
        chosen_families = [family]
        covered = self.code_points(family)
        if all(ord(letter) in covered for letter in set(text) - {"\n"}):
            return tuple(chosen_families), None
        fallbacks = self._ordered_fallbacks(text)
        for cluster in clusters(text):
            candidates = (*chosen_families, *fallbacks)
            forms = {unicodedata.normalize(form, cluster) for form in ("NFC", "NFD")} | {cluster}
            match = next((candidate for candidate in candidates if self._has_glyphs(candidate, forms)), None)
            if match is None:
                return tuple(chosen_families), self._missing_letter(cluster, candidates)
            if match not in chosen_families:
                chosen_families.append(match)
        return tuple(chosen_families), None

    def _has_glyphs(self, family: str, forms: Iterable[str]) -> bool:
        covered = self.code_points(family)
        return any(all(ord(letter) in covered or letter in _IGNORABLE for letter in form) for form in forms)

    def _missing_letter(self, cluster: str, families: Sequence[str]) -> str:
        if len(cluster) == 1:
            return cluster
        for letter in cluster:
            if letter not in _IGNORABLE and not any(
                ord(letter) in self.code_points(family) for family in families
            ):
                return letter
        return cluster

    def _ordered_fallbacks(self, text: str) -> list[str]:
        # Chinese, Japanese and Korean share code points but not shapes; the other letters identify the language.
        if any("\u3040" <= letter <= "\u30ff" for letter in text):
            first = _CJK + "JP"
        elif any("\uac00" <= letter <= "\ud7a3" for letter in text):
            first = _CJK + "KR"
        else:
            first = _CJK + "SC"
        return sorted(self.fallbacks, key=lambda family: (family.startswith(_CJK), family != first))


def open_font(content: bytes) -> tuple[str, ...]:
    """Check an uploaded font file and give its family names; raise FontInvalid if it cannot be used."""
    if len(content) > FONT_BYTES:
        message = f"The file is larger than {FONT_BYTES // 1_000_000} MB."
        raise FontInvalid([InputProblem("", "font_too_large", message)])
    if content[:4] not in {b"\0\1\0\0", b"OTTO", b"ttcf", b"true"}:
        raise FontInvalid([InputProblem("", "not_a_font", "Only TrueType and OpenType files are allowed.")])
    task, files = "printing.typesetting.fonts:families_in_folder", {"font": content}
    try:
        with run_bounded(task, files, seconds=READING_SECONDS, memory=READING_BYTES) as (families, _):
            family_names = tuple(families)
    except TaskFailed as error:
        raise FontInvalid([InputProblem("", "not_a_font", "The font file is damaged.")]) from error
    if not family_names:
        raise FontInvalid([InputProblem("", "not_a_font", "The font has no name or no characters.")])
    return family_names


def families_in_folder(folder: Path) -> list[str]:
    """The task of `open_font`: none for a font without a name or characters; any error is that of a damaged one."""
    path = folder / "font"
    with path.open("rb") as file:
        fonts = fonts_in(file)
        families = [_read_face(font, path, index).family for index, font in enumerate(fonts)]
        points = [len(font.getBestCmap() or ()) for font in fonts]
        ends = [table.offset + table.length for font in fonts for table in font.reader.tables.values()]
    is_whole = max(ends, default=0) <= path.stat().st_size
    return list(dict.fromkeys(families)) if is_whole and all(points) and all(families) else []


def font_digest(paths: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(paths).encode()).hexdigest()


def _font_files() -> Iterator[Path]:
    spec = importlib.util.find_spec(CJK_PACKAGE)
    for folder in (SHIPPED_FONTS, *(spec.submodule_search_locations or () if spec else ())):
        yield from sorted(path for path in Path(folder).rglob("*") if path.suffix in {".ttf", ".otf", ".ttc"})


@cache
def _read_faces(path: Path) -> tuple[FontFace, ...]:
    with path.open("rb") as file:
        return tuple(_read_face(font, path, index) for index, font in enumerate(fonts_in(file)))


def fonts_in(file: io.BufferedIOBase) -> list[TTFont]:
    start = file.read(4)
    file.seek(0)
    return list(TTCollection(file, lazy=True).fonts) if start == b"ttcf" else [TTFont(file, lazy=True)]


def _write_renamed(source: Path, target: Path) -> None:
    with source.open("rb") as file:
        fonts = fonts_in(file)
        for font in fonts:
            # The same order always gives the same bytes.
            font.recalcTimestamp = False
            if "SVG " in font:
                # Some fonts of text have pictures for a few letters. Typst prints all other letters in black then.
                del font["SVG "]
            names, family = font["name"], _family_of(font)
            # Typst gives fonts whose PostScript name it knows a family of its own, and draws none without such a name.
            own = {1: family + OWN_END, 6: f"{names.getDebugName(6) or 'Font'}-Own"}
            names.names = [record for record in names.names if record.nameID not in {1, 6, 16}]
            for number, name in own.items():
                names.setName(name, number, 3, 1, 0x409)
        if len(fonts) == 1:
            fonts[0].save(target, reorderTables=None)
        else:
            collection = TTCollection()
            collection.fonts = fonts
            collection.save(target)


def _family_of(font: TTFont) -> str:
    names = font["name"]
    return str(names.getDebugName(16) or names.getDebugName(1) or "")


def _read_face(font: TTFont, path: Path, index: int) -> FontFace:
    axes = {axis.axisTag: axis for axis in font["fvar"].axes} if "fvar" in font else {}
    weight = font["OS/2"].usWeightClass
    span = (int(axes["wght"].minValue), int(axes["wght"].maxValue)) if "wght" in axes else (weight, weight)
    return FontFace(path, index, _family_of(font), span, bool(font["OS/2"].fsSelection & 1))


@cache
def _code_points(path: str, index: int) -> CodePoints:
    with Path(path).open("rb") as file:
        font = fonts_in(file)[index]
        # Reading the names of 65,000 glyphs would take as long and as much memory again.
        font.setGlyphOrder(range(1 << 16))
        points = CodePoints(font.getBestCmap() or ())
        font.tables.clear()
        return points


def clusters(text: str) -> Iterator[str]:
    """Each base letter with its marks."""
    cluster = ""
    for letter in text:
        joined = cluster and (
            unicodedata.category(letter)[0] == "M" or letter in _IGNORABLE or cluster[-1] in _JOINERS
        )
        if cluster and not joined:
            yield cluster
            cluster = ""
        if letter != "\n":
            cluster += letter
    if cluster:
        yield cluster
