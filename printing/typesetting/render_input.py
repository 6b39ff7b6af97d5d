"""Builds the plain data that the typesetter draws from a template and its values."""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from printing.barcodes import (
    SMALLEST_BAR_MM,
    SMALLEST_QR_MODULE_MM,
    NotEncodable,
    code_128_runs,
    qr_runs,
)
from printing.press import isolation
from printing.press.pictures import has_plates
from printing.text import is_blank
from printing.typesetting.artwork import (
    PDF_TYPE,
    ArtworkInvalid,
    measure_picture,
    place_on_sheet,
)
from printing.typesetting.errors import InputProblem, pointer
from printing.typesetting.fields import overflow_reason
from printing.typesetting.fonts import FontSet
from printing.typesetting.press import PICTURE_TYPES, Press, placeholder_of_spot
from printing.typesetting.scaling import SMALL_PICTURE, for_proof, printed_dpi
from printing.typesetting.template import CMYK, RGB, Artwork, Box, Page, Template

GOOD_DPI = 150

_LANGUAGES = {"Noto Sans CJK JP": "ja", "Noto Sans CJK KR": "ko", "Noto Sans CJK SC": "zh"}


@dataclass
class RenderInput:
    """The input of a rendering, built from a template and its values, with problems and messages.

    `fields` and `places` say of each text its field, and its page and box. `plates` names the separated picture, in
    `separated`, that takes the place of each placeholder in `pictures`. `spots` are the spot colors, with their look.
    `is_large` where the typesetter decodes an uploaded picture that is large.
    """

    pages: list[dict[str, Any]]
    pictures: dict[str, tuple[bytes, str]]
    fields: list[str]
    places: list[tuple[int, int]]
    problems: list[InputProblem]
    messages: list[InputProblem]
    separated: dict[str, bytes] = field(default_factory=dict)
    plates: dict[str, str] = field(default_factory=dict)
    spots: list[tuple[str, tuple[float, float, float, float]]] = field(default_factory=list)
    is_large: bool = False

    def files(self) -> dict[str, tuple[bytes, str]]:
        """The files that only this job reads, by name."""
        return {**self.pictures, **{name: (content, "pdf") for name, content in self.separated.items()}}


class RenderInputBuilder:
    """Turns a template's boxes and the values of its fields into the plain data layout.typ draws."""

    def __init__(
        self,
        template: Template,
        images: Mapping[str, bytes],
        fonts: FontSet,
        *,
        for_screen: bool,
        press: Press | None = None,
        shows_plates: bool = False,
    ) -> None:
        """`shows_plates` where a print file is drawn as well."""
        self.template, self.images, self.fonts, self.for_screen = template, images, fonts, for_screen
        self.press, self.shows_plates = press, shows_plates
        self.render_input = RenderInput([], {}, [], [], [], [])
        self.reported: set[InputProblem] = set()

    def build(self, values: Mapping[str, str], artwork: Mapping[str, str]) -> RenderInput:
        for number, page in enumerate(self.template.pages):
            background = self.template.artwork[page.background] if page.background else None
            items = []
            for index, box in enumerate(page.boxes):
                if (item := self._build_item(box, values, artwork)) is not None:
                    items.append(item)
                    if item["kind"] == "text":
                        self.render_input.places.append((number, index))
            self.render_input.pages.append(
                {
                    "width": page.width,
                    "height": page.height,
                    "bleed": page.bleed,
                    "cut": page.bleed if self.press is None else self.press.bleed_of(page),
                    **self._build_background(page, background, artwork),
                    "boxes": items,
                }
            )
        return self.render_input

    def _build_item(
        self, box: Box, values: Mapping[str, str], artwork: Mapping[str, str]
    ) -> dict[str, Any] | None:
        content = box.text if box.field is None else values.get(box.field, "")
        if content is None or is_blank(content):
            return None
        frame = {
            "width": box.width,
            "height": box.height,
            "x": box.x,
            "y": box.y,
            "rotation": box.rotation,
            "color": self._paint_color(box.color),
            "background": self._paint_color(box.background) if box.background else None,
            "framed": box.is_framed,
        }
        if box.kind == "Text" and (reason := overflow_reason(box, content)):
            self._refuse(box, "does_not_fit", reason)
            return None
        if box.kind == "Text":
            return {**frame, **self._build_text(box, content)}
        if box.kind == "Image":
            return self._build_image(frame, box, content, artwork)
        return self._build_code(frame, box, content)

    def _build_background(
        self, page: Page, picture: Artwork | None, artwork: Mapping[str, str]
    ) -> dict[str, Any]:
        if picture is None:
            return {"background": None}
        if picture.media_type == PDF_TYPE and not picture.is_placed:
            size = (page.width + 2 * page.bleed, page.height + 2 * page.bleed)
            return {"background": None, "picture": self._place_picture(picture, size)}
        if picture.media_type not in PICTURE_TYPES or not self._is_separated(picture.data):
            return {"background": artwork[picture.digest]}
        return {"background": None, "picture": self._add_placeholder(picture.digest, picture.data, picture)}

    def _place_picture(self, picture: Artwork, size: tuple[float, float] | None = None) -> str:
        key = f"{picture.digest} {size}"
        if key not in self.render_input.pictures:
            self.render_input.pictures[key] = (place_on_sheet(picture, size), "pdf")
        return key

    def _is_separated(self, content: bytes) -> bool:
        """Whether the picture is printed by its plates; the typesetter gets only a placeholder then."""
        return self.press is not None and (self.press.rules.is_cmyk or has_plates(content))

    def _add_placeholder(self, key: str, content: bytes, picture: Artwork) -> str:
        """Separates the picture once for all its places; returns the key of its placeholder."""
        assert self.press is not None  # noqa: S101 - narrows the type: callers have looked
        if key not in self.render_input.pictures:
            size = (picture.width, picture.height)
            content_shown, digest, separated = self.press.placeholder(content, size, key)
            self.render_input.pictures[key] = (content_shown, "jpg")
            self.render_input.separated[f"separated {key}"] = separated
            self.render_input.plates[digest] = f"separated {key}"
            self.render_input.is_large |= self.shows_plates and isolation.is_large_to_render(content)
        return key

    def _paint_color(self, color: RGB | CMYK) -> str | list[float]:
        """A spot color is typeset as a marking process color, which the writer replaces by its plate."""
        if self.press is None or isinstance(color, RGB) or not color.spot:
            return color.as_json()
        spot = (color.spot, (color.cyan, color.magenta, color.yellow, color.black))
        if spot not in self.render_input.spots:
            self.render_input.spots.append(spot)
        return placeholder_of_spot(self.render_input.spots.index(spot))

    def _build_text(self, box: Box, content: str) -> dict[str, Any]:
        content = content.replace("\t", " ")
        families, missing = self.fonts.chain(box.font, content)
        if missing is not None:
            self._refuse(
                box,
                "character_not_printable",
                f"contains {describe_characters(missing)}, which no font here can print",
            )
        self.render_input.fields.append(box.field or "")
        script = next((_LANGUAGES[family] for family in families if family in _LANGUAGES), "en")
        return {
            "kind": "text",
            "id": len(self.render_input.fields) - 1,
            "lines": _lines_of(box, content),
            "fonts": self.fonts.typst_names(families),
            "lang": script,
            "rtl": _is_right_to_left(content),
            "weight": box.weight,
            "style": "italic" if box.italic else "normal",
            "size": box.size,
            "smallest": box.minimum_size,
            "tracking": box.tracking,
            "align": box.align,
            "valign": box.vertical_align,
            "spacing": box.line_spacing,
            "fit": box.fit,
        }

    def _build_image(
        self, frame: dict[str, Any], box: Box, content: str, artwork: Mapping[str, str]
    ) -> dict[str, Any] | None:
        field = box.field or ""
        image: dict[str, Any] = {**frame, "kind": "image", "fit": box.fit, "radius": box.radius, "alt": field}
        if (picture := self.template.gallery.get(content)) is not None:
            self._note_resolution(box, picture)
            if picture.media_type in PICTURE_TYPES and self._is_separated(picture.data):
                return {**image, "picture": self._add_placeholder(picture.digest, picture.data, picture)}
            if picture.media_type == PDF_TYPE:
                return {**image, "picture": self._place_picture(picture)}
            return {**image, "file": artwork[picture.digest]}
        if field not in self.images:
            self._refuse(box, "unknown_picture", "names a picture that does not exist")
            return None
        key = f"{field} {box.width} {box.height} {box.fit}" if self.for_screen else field
        try:
            # A large picture was checked at its upload, and is decoded when it is drawn or separated.
            size = measure_picture(self.images[field], largest=SMALL_PICTURE)
            if self._is_separated(self.images[field]):
                self._add_placeholder(key, self.images[field], Artwork(field, "image/png", b"", "", *size))
            elif key not in self.render_input.pictures:
                self.render_input.pictures[key] = output = self._picture_for_output(
                    box, self.images[field], size
                )
                self.render_input.is_large |= isolation.is_large_to_render(output[0])
        except ArtworkInvalid as error:
            self._refuse(box, error.code, f"has a picture that cannot be used: {error}")
            return None
        self._note_resolution(box, Artwork(field, "image/png", b"", "", *size))
        return {**image, "picture": key}

    def _picture_for_output(self, box: Box, content: bytes, size: tuple[int, int]) -> tuple[bytes, str]:
        extension = "png" if content.startswith(b"\x89PNG") else "jpg"
        return for_proof(box, content, size) if self.for_screen else content, extension

    def _note_resolution(self, box: Box, picture: Artwork) -> None:
        if picture.media_type not in {"image/png", "image/jpeg"}:
            return
        dpi = round(printed_dpi(box, (picture.width, picture.height)))
        if dpi < GOOD_DPI:
            message = (
                f"{box.field} prints at {dpi} dpi; at least {GOOD_DPI} dpi are needed for a sharp picture."
            )
            self._add_problem(
                self.render_input.messages, InputProblem(pointer(box.field or ""), "low_resolution", message)
            )

    def _build_code(self, frame: dict[str, Any], box: Box, content: str) -> dict[str, Any] | None:
        square = box.kind == "QRCode"
        try:
            columns, runs = qr_runs(content) if square else code_128_runs(content)
        except NotEncodable as error:
            self._refuse(box, "not_encodable", str(error))
            return None
        module = (min(box.width, box.height) if square else box.width) / columns
        if module < (SMALLEST_QR_MODULE_MM if square else SMALLEST_BAR_MM):
            self._refuse(
                box,
                "code_too_dense",
                f"is too long for a code of this size to be read ({module:.2f} mm bars)",
            )
            return None
        return {**frame, "kind": "code", "columns": columns, "rows": columns if square else 1, "runs": runs}

    def _refuse(self, box: Box, code: str, message: str) -> None:
        where = pointer(box.field) if box.field else ""
        self._add_problem(
            self.render_input.problems, InputProblem(where, code, f"{box.field or 'A fixed text'} {message}.")
        )

    def _add_problem(self, problems: list[InputProblem], problem: InputProblem) -> None:
        if problem not in self.reported:
            self.reported.add(problem)
            problems.append(problem)


def _lines_of(box: Box, content: str) -> list[str]:
    """Where lines are wrapped, without the spaces at their ends: Typst counts these as part of a line's width."""
    lines = content.split("\n")
    return [line.rstrip() for line in lines] if box.fit == "wrap" else lines


def _is_right_to_left(content: str) -> bool:
    for letter in content:
        if (direction := unicodedata.bidirectional(letter)) in {"L", "R", "AL"}:
            return direction != "L"
    return False


def describe_characters(cluster: str) -> str:
    """The characters themselves, with their numbers and the names of those that this version of Unicode names."""
    letters = [f"U+{ord(letter):04X} {unicodedata.name(letter, '')}".strip() for letter in cluster[:4]]
    return f"“{cluster}” ({', '.join(letters)})"
