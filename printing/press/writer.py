"""The pass after the typesetter that makes its PDF press-ready; the same input gives the same bytes."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

import pikepdf

from printing.press.clips import bound_shading
from printing.press.colors import separation_of
from printing.press.device_colors import DeviceColors
from printing.press.die_lines import overprint_tools
from printing.press.groups import mask_of
from printing.press.identity import give_id, identify, intend
from printing.press.objects import drop, get_dictionary, held_in, is_plain, pack_streams, states_of
from printing.press.paints import Inks
from printing.press.pictures import KEPT
from printing.press.plain import OF_DEVICES
from printing.press.profiles import OutputCondition
from printing.press.repaint import Repainter

POINTS_OF_MM = 72 / 25.4
PDF_VERSION = "1.6"
# The typesetter draws the marks in full process colors, the only ones in four full inks that are stroked.
# Letters come first in the pattern: a search that begins with a look back is ten times slower.
_MARKS = re.compile(rb"1 1 1 1 K(?<![\d.]1 1 1 1 K)(?![A-Za-z0-9])")
_OF_PAGES = ("/Annots", "/AA", "/StructParents", "/Tabs", "/PieceInfo", "/Metadata", "/Thumb")
_OF_CATALOG = (
    "/StructTreeRoot",
    "/MarkInfo",
    "/AcroForm",
    "/Names",
    "/OpenAction",
    "/AA",
    "/Outlines",
    "/PieceInfo",
)
_OF_FORMS = (
    "/OPI",
    "/Ref",
    "/PS",
    "/StructParents",
    "/StructParent",
    "/PieceInfo",
    "/Metadata",
    "/Alternates",
)
_OVERPRINT = ("/OP", "/op", "/OPM")


@dataclass(frozen=True, slots=True)
class PageBoxes:
    """Trimmed size, bleed and the margin outside of it that holds the marks, in millimetres."""

    width: float
    height: float
    bleed: float
    slug: float


@dataclass(frozen=True, slots=True)
class PressJob:
    """`pictures` are files of separated pictures, by the SHA-256 of their placeholders.

    `spots` are the names of spot colors and what shows them, in percent; `inks_for_spot` stands for each.
    """

    condition: OutputCondition
    is_cmyk: bool
    highest_ink: int
    title: str
    boxes: Sequence[PageBoxes]
    has_pdf: bool = True
    pictures: Mapping[str, str] = field(default_factory=dict)
    spots: Sequence[tuple[str, Sequence[float]]] = ()
    keeps_overprint: bool = False


def write_press_file(source: bytes, job: PressJob) -> bytes:
    """The typesetter's PDF as PDF/X-4."""
    with pikepdf.open(BytesIO(source)) as pdf:
        picture_files = _place_pictures(pdf, job.pictures)
        if job.is_cmyk:
            Repainter(pdf, Inks(separation_of(job.condition.profile, job.highest_ink))).run()
        _set_groups(pdf)
        for state in states_of(pdf):
            drop(state, *OF_DEVICES, *(() if job.keeps_overprint else _OVERPRINT))
        if job.has_pdf:
            DeviceColors(pdf, None if job.is_cmyk else job.condition.profile).run()
        for page, boxes in zip(pdf.pages, job.boxes, strict=True):
            _finish_page(page.obj, boxes)
            _set_plates(pdf, page.obj, job.spots)
        if not job.keeps_overprint:
            overprint_tools(pdf)
        drop(pdf.Root, *_OF_CATALOG)
        identify(pdf, title=job.title)
        intend(pdf, job.condition)
        output = _save_pdf(pdf)
        del picture_files
    return output


def _save_pdf(pdf: pikepdf.Pdf) -> bytes:
    """Keeps compressed streams. Takes 3 ms; the library would take 10."""
    pack_streams(pdf)
    drop(pdf.trailer, "/ID")
    out = BytesIO()
    pdf.save(
        out,
        force_version=PDF_VERSION,
        static_id=True,
        fix_metadata_version=False,
        compress_streams=False,
        object_stream_mode=pikepdf.ObjectStreamMode.disable,
        stream_decode_level=pikepdf.StreamDecodeLevel.none,
    )
    return give_id(out)


def _place_pictures(pdf: pikepdf.Pdf, pictures: Mapping[str, str]) -> list[pikepdf.Pdf]:
    """Replaces placeholders by separated pictures; their files are read when the PDF is saved."""
    picture_files: list[pikepdf.Pdf] = []
    images: dict[str, Any] = {}
    for _, xobjects in held_in(pdf, "/XObject") if pictures else ():
        for name, image in list(xobjects.items()):
            if str(image.get("/Filter")) != "/DCTDecode":
                continue
            digest = hashlib.sha256(image.read_raw_bytes()).hexdigest()
            if digest not in pictures:
                continue
            if digest not in images:
                picture_files.append(pikepdf.open(pictures[digest]))
                images[digest] = pdf.copy_foreign(picture_files[-1].Root[KEPT])
            xobjects[name] = images[digest]
    return picture_files


def _set_groups(pdf: pikepdf.Pdf) -> None:
    """Groups blend in the inks of the press, and isolated, as the proof shows them.

    A mask keeps the space that its luminosity is read in.
    """
    masks = {mask.G.objgen for mask in map(mask_of, states_of(pdf)) if mask is not None}
    for form in pdf.objects:
        if isinstance(form, pikepdf.Dictionary | pikepdf.Stream) and str(form.get("/Subtype")) == "/Form":
            drop(form, *_OF_FORMS)
            if form.objgen in masks:
                bound_shading(form)
            elif "/Group" in form:
                form.Group = pikepdf.Dictionary(
                    S=pikepdf.Name.Transparency, CS=pikepdf.Name.DeviceCMYK, I=True
                )


def _finish_page(page: Any, boxes: PageBoxes) -> None:
    slug, bleed = boxes.slug * POINTS_OF_MM, boxes.bleed * POINTS_OF_MM
    left, bottom, right, top = (float(side) for side in page.MediaBox)
    page.MediaBox = _make_box(left, bottom, right, top, 0.0)
    page.BleedBox = _make_box(left, bottom, right, top, slug)
    page.TrimBox = _make_box(left, bottom, right, top, slug + bleed)
    drop(page, "/CropBox", "/ArtBox", *_OF_PAGES)
    if _has_transparency(page):
        page.Group = pikepdf.Dictionary(
            Type=pikepdf.Name.Group, S=pikepdf.Name.Transparency, CS=pikepdf.Name.DeviceCMYK, I=True
        )
    else:
        drop(page, "/Group")


def _make_box(left: float, bottom: float, right: float, top: float, inset: float) -> pikepdf.Array:
    return pikepdf.Array(
        [round(side, 4) for side in (left + inset, bottom + inset, right - inset, top - inset)]
    )


def _has_transparency(page: Any) -> bool:
    resources = get_dictionary(page, "/Resources")
    return any(_is_clear(state) for state in get_dictionary(resources, "/ExtGState").values()) or any(
        "/Group" in drawable or "/SMask" in drawable
        for drawable in get_dictionary(resources, "/XObject").values()
    )


def _is_clear(state: Any) -> bool:
    masked = isinstance(state.get("/SMask"), pikepdf.Dictionary)
    return not is_plain(state) or masked or any(float(state.get(key, 1)) < 1 for key in ("/CA", "/ca"))


def inks_for_spot(number: int) -> tuple[int, int, int, int]:
    """The process color that marks a spot color until its plate is set; unlikely in real designs."""
    return 253, 1, 254, number


def _set_plates(pdf: pikepdf.Pdf, page: Any, spots: Sequence[tuple[str, Sequence[float]]]) -> None:
    """Puts the crop marks on all plates, and each spot color on its own plate."""
    content = plated = page.Contents.read_bytes()
    plated, marks = _MARKS.subn(b" /Registration CS 1 SCN", plated)
    if marks:
        _add_space(pdf, page, "/Registration", "/All", (100, 100, 100, 100))
    for number, (name, inks) in enumerate(spots):
        parts = rb"\s+".join(_number_near(part / 255) for part in inks_for_spot(number))
        for operator, setting in ((b"k", b"cs 1 scn"), (b"K", b"CS 1 SCN")):
            placeholder = re.compile(rb"(?<![\d.])" + parts + rb"\s+" + operator + rb"(?![A-Za-z0-9])")
            plated = placeholder.sub(b" /Spot%d %s" % (number, setting), plated)
        _add_space(pdf, page, f"/Spot{number}", f"/{name}", inks)
    if plated != content:
        page.Contents.write(plated)


def _number_near(value: float) -> bytes:
    """The number as the typesetter writes it, to three decimals."""
    digits = f"{value:.6f}"[:5].rstrip("0").rstrip(".") or "0"
    return re.escape(digits.encode()) + rb"\d*"


def _add_space(pdf: pikepdf.Pdf, page: Any, name: str, colorant: str, inks: Sequence[float]) -> None:
    full = [round(part / 100, 4) for part in inks]
    tint = pikepdf.Dictionary(FunctionType=2, Domain=[0, 1], C0=[0, 0, 0, 0], C1=full, N=1)
    space = pikepdf.Array([pikepdf.Name.Separation, pikepdf.Name(colorant), pikepdf.Name.DeviceCMYK, tint])
    resources = page.Resources
    if "/ColorSpace" not in resources:
        resources.ColorSpace = pikepdf.Dictionary()
    resources.ColorSpace[name] = pdf.make_indirect(space)
