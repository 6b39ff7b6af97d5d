"""Reads the pictures of a template, and refuses what could harm the typesetter."""

import base64
import binascii
import hashlib
import io
import math
import re
from xml.parsers import expat

from PIL import Image

from printing.bounded import TaskFailed
from printing.caches import WeightedCache
from printing.errors import CodedError
from printing.pictures import (
    ON_ITS_SIDE,
    ScansTooLarge,
    check_scans,
    is_jpeg,
    open_undecoded,
    orientation_of,
)
from printing.press import isolation
from printing.press.artwork import ArtworkRefused, PreparedArtwork, place_artwork
from printing.press.pictures import reshaped_size
from printing.typesetting.errors import RenderingFailed
from printing.typesetting.svg_references import (
    LOADING,
    REFERRING,
    SVG_REFERENCES,
    SvgReferences,
    TooComplex,
    named_element,
)
from printing.typesetting.template import EXTENSIONS, Artwork

PDF_TYPE = "application/pdf"
ARTWORK_BYTES = 10_000_000
ARTWORK_PIXELS = 50_000_000
SVG_BYTES = 2_000_000
SVG_ELEMENTS = 20_000
SVG_DEPTH = 48

_FORBIDDEN_ELEMENTS = {
    "script",
    "foreignobject",
    "iframe",
    "audio",
    "video",
    "animate",
    "set",
    "style",
    "filter",
}
_UNITS = {"": 1.0, "px": 1.0, "pt": 4 / 3, "mm": 96 / 25.4, "cm": 960 / 25.4, "in": 96.0}
_URL = re.compile(r"url\(\s*+['\"]?+\s*+(?!#)", re.IGNORECASE)
_EMBEDDED = re.compile(r"data:(image/png|image/jpeg);base64,([A-Za-z0-9+/=]+)")
_LENGTH = re.compile(r"\s*+((?:[0-9]++\.?+[0-9]*+|\.[0-9]++)(?:e-?\d{1,2})?)\s*+([a-z]*+)\s*+", re.IGNORECASE)
# Artwork PDFs as they are printed: prepared once by each process, and placed on a page.
CACHE_BYTES = 64_000_000


class ArtworkInvalid(CodedError, ValueError):
    """Artwork that must not be saved with a template."""


def read_artwork(name: str, media_type: object, data: object) -> Artwork:
    """Decode and check one artwork; raise ArtworkInvalid with the first fault found."""
    if not isinstance(media_type, str) or media_type not in EXTENSIONS:
        raise ArtworkInvalid(
            "unknown_media_type", f"MediaType must be one of {', '.join(sorted(EXTENSIONS))}."
        )
    if not isinstance(data, str) or not data:
        raise ArtworkInvalid("no_data", "Data must be text: SVG as it is, everything else as base64.")
    content = _decode_data(media_type, data)
    if len(content) > ARTWORK_BYTES:
        raise ArtworkInvalid("artwork_too_large", f"At most {ARTWORK_BYTES:,} bytes are allowed.")
    width, height = measure_artwork(media_type, content)
    return Artwork(name, media_type, content, hashlib.sha256(content).hexdigest(), width, height)


def measure_artwork(media_type: str, content: bytes) -> tuple[float, float]:
    """Check the content and give its width and height; (0, 0) for a PDF, which only rendering measures."""
    if media_type == "image/svg+xml":
        return _SvgReader().read(content)
    if media_type == PDF_TYPE:
        if not content.startswith(b"%PDF-") or b"%%EOF" not in content[-2048:]:
            raise ArtworkInvalid("unreadable_artwork", "The data is not a PDF file.")
        return 0.0, 0.0
    return measure_picture(content, media_type)


def measure_picture(
    content: bytes, media_type: str | None = None, *, largest: int | None = None
) -> tuple[int, int]:
    """Check a PNG or JPEG by decoding it, and give its upright size; above `largest` pixels it is not decoded."""
    formats = {"image/png": ["PNG"], "image/jpeg": ["JPEG"], None: ["PNG", "JPEG"]}[media_type]
    # Pillow's warning of a large picture may be raised as an error. catch_warnings is no help: it would change
    # the filters of all threads.
    try:
        with open_undecoded(content, formats) as picture:
            width, height = picture.size
            is_large = isolation.is_large_picture(picture)
            if largest is None:
                check_scans(picture)
            if not is_large and (largest is None or width * height <= largest):
                picture.load()
            if orientation_of(picture) >= ON_ITS_SIDE:
                width, height = height, width
    except ScansTooLarge as error:
        raise ArtworkInvalid("too_many_pixels", str(error)) from error
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        width, height, is_large = ARTWORK_PIXELS, 2, True
    except (OSError, SyntaxError, ValueError) as error:
        raise ArtworkInvalid(
            "unreadable_artwork", f"The data is not a readable {' or '.join(formats)}."
        ) from error
    if width * height > ARTWORK_PIXELS:
        raise ArtworkInvalid("too_many_pixels", f"At most {ARTWORK_PIXELS:,} pixels are allowed.")
    if largest is None and is_large and not isolation.is_readable(content):
        raise ArtworkInvalid("unreadable_artwork", f"The data is not a readable {' or '.join(formats)}.")
    return width, height


def shrink_picture(content: bytes, size: tuple[int, int]) -> bytes:
    """Make a smaller copy of the same format, for a screen."""
    target = io.BytesIO()
    try:
        with open_undecoded(content, ["PNG", "JPEG"]) as picture:
            form = "JPEG" if is_jpeg(picture) else "PNG"
            if isolation.is_large_at_any_size(picture):
                small = _simplify_mode(isolation.shrink(content, size, "LANCZOS"))
            else:
                picture.draft("RGB", size)
                small = _simplify_mode(picture).resize(size, Image.Resampling.LANCZOS, reducing_gap=2.0)
            small.save(target, form, quality=88)
    except (OSError, SyntaxError, ValueError, TaskFailed) as error:
        raise ArtworkInvalid("unreadable_artwork", "The data is damaged.") from error
    return target.getvalue()


def crop_picture(content: bytes, size: tuple[int, int], proportion: float) -> bytes:
    """The center of a picture of this size, in another proportion of width to height."""
    shape = reshaped_size(size, proportion, crop=True)
    try:
        return isolation.reshape(content, shape, proportion, crop=True)
    except (OSError, SyntaxError, ValueError, TaskFailed) as error:
        raise ArtworkInvalid("unreadable_artwork", "The data is damaged.") from error


def _simplify_mode(picture: Image.Image) -> Image.Image:
    if picture.mode in {"L", "RGB", "RGBA"}:
        return picture
    return picture.convert("RGBA" if picture.has_transparency_data else "RGB")


def _decode_data(media_type: str, data: str) -> bytes:
    if media_type == "image/svg+xml":
        return data.encode("utf-8", "replace")
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ArtworkInvalid("bad_base64", "Data must be base64 without line breaks.") from error


class _SvgReader:
    """Reads an SVG in one pass and stops at the first external reference or exceeded limit."""

    def __init__(self) -> None:
        self.elements = self.references = self.pixels = 0
        self.open_ids: list[bool] = []
        self.size: tuple[float, float] | None = None
        self.drawn = SvgReferences()

    def read(self, content: bytes) -> tuple[float, float]:
        if len(content) > SVG_BYTES:
            raise ArtworkInvalid("artwork_too_large", f"An SVG has at most {SVG_BYTES:,} bytes.")
        parser = expat.ParserCreate(encoding="utf-8")
        parser.StartElementHandler = self._start_element
        parser.EndElementHandler = self._end_element
        parser.StartDoctypeDeclHandler = self._refuse_declaration
        parser.ProcessingInstructionHandler = self._refuse_declaration
        try:
            parser.Parse(content, True)
            self.drawn.check()
        except TooComplex as error:
            raise ArtworkInvalid("svg_too_complex", str(error)) from error
        except expat.ExpatError as error:
            raise ArtworkInvalid("unreadable_artwork", f"The SVG is not well-formed: {error}.") from error
        if self.size is None:
            raise ArtworkInvalid("no_size", "The svg element needs a viewBox, or a width and a height.")
        return self.size

    def _refuse_declaration(self, *_: object) -> None:
        raise ArtworkInvalid("unsafe_svg", "DOCTYPE, entities and processing instructions are not allowed.")

    def _start_element(self, name: str, attributes: dict[str, str]) -> None:
        self.elements += 1
        self.open_ids.append("id" in attributes)
        local = name.rpartition(":")[2].lower()
        if self.elements == 1:
            if local != "svg":
                raise ArtworkInvalid("unreadable_artwork", "The root element must be svg.")
            self.size = _svg_size(attributes)
        if self.elements > SVG_ELEMENTS or len(self.open_ids) > SVG_DEPTH:
            message = f"At most {SVG_ELEMENTS:,} elements, {SVG_DEPTH} deep, are allowed."
            raise ArtworkInvalid("svg_too_complex", message)
        if local in _FORBIDDEN_ELEMENTS or local.startswith("animate"):
            raise ArtworkInvalid("unsafe_svg", f"The element {local} is not allowed.")
        for key, value in attributes.items():
            self._check_attribute(local, key.rpartition(":")[2].lower(), value)
        self.drawn.start(local, attributes)

    def _end_element(self, _: str) -> None:
        self.open_ids.pop()
        self.drawn.end()

    def _check_attribute(self, element: str, key: str, value: str) -> None:
        if key.startswith("on"):
            raise ArtworkInvalid("unsafe_svg", f"The attribute {key} is not allowed.")
        if _URL.search(value) or "\\" in value or "@import" in value:
            raise ArtworkInvalid("external_reference", "url(…) may only name an element of the same SVG.")
        if key in {"href", "src"}:
            self._check_reference(element, value.strip())

    def _check_reference(self, element: str, target: str) -> None:
        # The typesetter treats the href of a loading element as a file, with or without a #.
        if element in LOADING:
            embedded = _EMBEDDED.fullmatch(target)
            if embedded is None:
                message = f"{element} may only name a PNG or JPEG within the SVG itself (data:…;base64,…)."
                raise ArtworkInvalid("external_reference", message)
            width, height = measure_picture(_decode_data(embedded[1], embedded[2]), embedded[1])
            self.pixels += width * height
        elif element not in REFERRING or named_element(target) is None:
            raise ArtworkInvalid("external_reference", "href may only name an element of the same SVG.")
        self.references += 1
        if self.references > SVG_REFERENCES or self.pixels > ARTWORK_PIXELS:
            message = f"At most {SVG_REFERENCES:,} references and {ARTWORK_PIXELS:,} pixels are allowed."
            raise ArtworkInvalid("svg_too_complex", message)
        # Nesting is refused: ten groups of ten `use` elements each that refer to the next make 10^10 shapes.
        if element == "use" and any(self.open_ids[:-1]):
            raise ArtworkInvalid("svg_too_complex", "use is not allowed inside an element that has an id.")


def _svg_size(attributes: dict[str, str]) -> tuple[float, float] | None:
    numbers = attributes.get("viewBox", "").replace(",", " ").split()
    try:
        if len(numbers) == 4 and all(0 < float(number) < math.inf for number in numbers[2:]):
            return float(numbers[2]), float(numbers[3])
    except ValueError:
        return None
    sizes = [_LENGTH.fullmatch(attributes.get(key, "")) for key in ("width", "height")]
    lengths = [float(m[1]) * _UNITS[m[2].lower()] for m in sizes if m and m[2].lower() in _UNITS]
    return (lengths[0], lengths[1]) if len(lengths) == 2 and min(lengths) > 0 else None


prepared_cache: WeightedCache[str, PreparedArtwork] = WeightedCache(
    capacity=CACHE_BYTES, weight=lambda prepared: 1000 + len(prepared.pdf)
)


def prepare_template_artwork(artwork: Artwork) -> PreparedArtwork:
    """Raises ArtworkRefused."""
    return prepared_cache.get_or_make(artwork.digest, lambda: isolation.prepare(artwork.data))


def place_on_sheet(artwork: Artwork, size: tuple[float, float] | None = None) -> bytes:
    """The first page on a sheet of this size in mm, or as large as it is trimmed. Raises RenderingFailed."""
    try:
        prepared = prepare_template_artwork(artwork)
    except ArtworkRefused as error:
        raise RenderingFailed(f"{artwork.name}: {error}") from error
    return place_artwork(prepared.pdf, prepared.pages[0], 0, *(size or prepared.pages[0].size))
