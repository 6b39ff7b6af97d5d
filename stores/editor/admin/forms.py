"""The editor's form: maps inputs to members of a template's JSON and back.

An empty input omits its member, so that the engine's default applies. Untouched values stay unchanged; text that is
no number stays text, and the engine reports it at its path.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from printing.typesetting.template import EDDM_ADDRESS, EDDM_INDICIA, FIXED_TEXTS

KINDS = {
    "Text": "Text",
    "Image": "Picture",
    "QRCode": "QR code",
    "Code128": "Bar code",
    EDDM_INDICIA: "EDDM indicia",
    EDDM_ADDRESS: "EDDM address",
}
NEW_BOX: dict[str, Any] = {"X": 5, "Y": 5, "Width": 40, "Height": 8}
TEXTS = frozenset({"Text", *FIXED_TEXTS})
IMAGES = frozenset({"Image"})
ALL = frozenset(KINDS)


NEW_TEXT = {
    "Text": "Text",
    "Image": "",
    "QRCode": "https://example.com",
    "Code128": "12345678",
    **FIXED_TEXTS,
}


class BoxMember(NamedTuple):
    """A member of a box or a page. `unset` is what the engine takes when it is left out."""

    name: str
    label: str | Promise
    form: str  # number, choice, flag, color, font or text
    unset: str | Promise = ""
    kinds: frozenset[str] = ALL
    choices: tuple[str, ...] = ()
    step: str = "0.1"


PAGE_MEMBERS = (
    BoxMember("WidthMM", _("Width (mm)"), "number"),
    BoxMember("HeightMM", _("Height (mm)"), "number"),
    BoxMember("BleedMM", _("Bleed (mm)"), "number", "0"),
)
BOX_MEMBERS = (
    BoxMember("Name", _("Name of the box"), "text"),
    BoxMember("X", _("X (mm)"), "number"),
    BoxMember("Y", _("Y (mm)"), "number"),
    BoxMember("Width", _("Width (mm)"), "number"),
    BoxMember("Height", _("Height (mm)"), "number"),
    BoxMember("Rotation", _("Rotation (°)"), "number", "0", step="1"),
    BoxMember("Color", _("Color"), "color", "#000000", ALL - IMAGES),
    BoxMember("Background", _("Fill"), "color", _("none")),
    BoxMember("Font", _("Font"), "font", "Lato", TEXTS),
    BoxMember("Weight", _("Weight"), "number", "400", TEXTS, step="100"),
    BoxMember("Italic", _("Italic"), "flag", kinds=TEXTS),
    BoxMember("Size", _("Size (pt)"), "number", kinds=TEXTS),
    BoxMember("MinimumSize", _("Smallest size (pt)"), "number", _("as Size"), TEXTS),
    BoxMember("Tracking", _("Tracking (em)"), "number", "0", TEXTS, step="0.01"),
    BoxMember("Align", _("Align"), "choice", "left", TEXTS, ("left", "center", "right")),
    BoxMember("VerticalAlign", _("Vertical"), "choice", "top", TEXTS, ("top", "middle", "bottom")),
    BoxMember("LineSpacing", _("Line spacing"), "number", "1.2", TEXTS, step="0.05"),
    BoxMember("Fit", _("Fit"), "choice", "shrink", TEXTS, ("shrink", "wrap", "clip")),
    BoxMember("Fit", _("Fit"), "choice", "contain", IMAGES, ("contain", "cover", "stretch")),
    BoxMember("Radius", _("Corner radius (mm)"), "number", "0", IMAGES),
    BoxMember("Locked", _("Locked"), "flag"),
)


@dataclass(frozen=True, slots=True)
class Input:
    """An input of the page; `pointer` is its JSON pointer in the template."""

    name: str
    member: BoxMember
    value: str
    pointer: str
    choices: Sequence[tuple[str, str]] = ()


def new_box(kind: str) -> dict[str, Any]:
    box: dict[str, Any] = {"Kind": kind, **NEW_BOX}
    if kind in FIXED_TEXTS:
        box |= {"Width": 36, "Height": 30, "Size": 9, "Align": "center", "VerticalAlign": "middle"}
    elif kind == "Text":
        box["Size"] = 10
    elif kind != "Code128":
        box |= {"Width": 20, "Height": 20}
    return box


def page_inputs(page: Mapping[str, Any], number: int) -> list[Input]:
    return [
        Input(
            f"page-{member.name}", member, input_text(page.get(member.name)), f"/Pages/{number}/{member.name}"
        )
        for member in PAGE_MEMBERS
    ]


def box_inputs(box: Mapping[str, Any], number: int, page_number: int, families: Sequence[str]) -> list[Input]:
    box_pointer = f"/Pages/{page_number}/Boxes/{number}"
    return [
        Input(
            f"box-{number}-{member.name}",
            member,
            input_text(box.get(member.name)),
            f"{box_pointer}/{member.name}",
            _list_choices(member, input_text(box.get(member.name)), families),
        )
        for member in BOX_MEMBERS
        if box.get("Kind") in member.kinds
    ]


def read_page(page: Mapping[str, Any], form: Mapping[str, str]) -> dict[str, Any]:
    """The page updated by the form; `page` is its state when the form was rendered.

    A script sends the pages only: without inputs the page stays unchanged.
    """
    if "page-WidthMM" not in form:
        return dict(page)
    changed = {name: value for name, value in page.items() if name not in _list_names(PAGE_MEMBERS)}
    changed |= _read_members(page, PAGE_MEMBERS, lambda name: form.get(f"page-{name}", ""))
    changed.pop("Background", None)
    if background := form.get("page-Background"):
        changed["Background"] = background
    boxes = page.get("Boxes") or []
    changed["Boxes"] = [
        _read_box(box if isinstance(box, dict) else {}, number, form) for number, box in enumerate(boxes)
    ]
    return changed


def _read_box(box: Mapping[str, Any], number: int, form: Mapping[str, str]) -> dict[str, Any]:
    def text_of(name: str) -> str:
        return form.get(f"box-{number}-{name}", "")

    if f"box-{number}-Kind" not in form:
        return dict(box)
    kind = text_of("Kind")
    members = [member for member in BOX_MEMBERS if kind in member.kinds]
    # Members of other kinds are dropped; members without an input stay.
    names_with_input = {*_list_names(BOX_MEMBERS), "Kind", "Field", "Text"}
    changed = {name: value for name, value in box.items() if name not in names_with_input}
    if source := text_of("Source"):
        changed["Field"] = source
    else:
        changed["Text"] = text_of("Text").replace("\r\n", "\n")
    return {**changed, "Kind": kind, **_read_members(box, members, text_of)}


def _read_members(
    old: Mapping[str, Any], members: Sequence[BoxMember], text_of: Callable[[str], str]
) -> dict[str, Any]:
    values = {}
    for member in members:
        text = text_of(member.name).strip()
        before = old.get(member.name)
        if text == input_text(before):
            value = before
        else:
            value = _read_value(member, text)
        if value is not None and value != "":
            values[member.name] = value
    return values


def _read_value(member: BoxMember, text: str) -> Any:
    if member.form == "flag":
        return True if text else None
    if member.form == "number":
        return _read_number(text)
    if member.form == "color":
        *inks, spot = [*text.replace(",", " ").split(maxsplit=4), "", "", "", "", ""][:5]
        parts = [_read_number(ink) for ink in inks]
        if not any(isinstance(part, str) for part in parts):
            return dict(zip("CMYK", parts, strict=True)) | ({"Spot": spot} if spot else {})
    return text or None


def _read_number(text: str) -> Any:
    try:
        number = float(text.replace(",", "."))
    except ValueError:
        return text
    if number != number or number in {float("inf"), float("-inf")}:
        return text
    # JSON has no longer integers than of 64 bits.
    return int(number) if number.is_integer() and abs(number) < 2**63 else number


def lower_first(label: str) -> str:
    """A label inside of a sentence; what is written in capitals stays so."""
    return label if label[:2].isupper() else label[:1].lower() + label[1:]


def input_text(value: Any) -> str:
    """The text of an input for a value of the JSON."""
    if value is None or value is False:
        return ""
    if value is True:
        return "on"
    if isinstance(value, float) and value == int(value):
        return str(int(value))
    if isinstance(value, dict):
        return " ".join(
            [*(input_text(value.get(ink, 0)) or "0" for ink in "CMYK"), value.get("Spot") or ""]
        ).strip()
    return str(value)


def _list_choices(member: BoxMember, value: str, families: Sequence[str]) -> list[tuple[str, str]]:
    if member.form not in {"choice", "font"}:
        return []
    names = [*families] if member.form == "font" else [*member.choices]
    if value and value not in names:
        names.insert(0, value)
    return [("", _("%(value)s (default)") % {"value": member.unset}), *((name, name) for name in names)]


def _list_names(members: Sequence[BoxMember]) -> set[str]:
    return {member.name for member in members}


def describe_member(name: str) -> str:
    """The label of a member of the template for use in a sentence, without its unit."""
    if name == "Background":
        return "background"
    label = next((member.label for member in (*PAGE_MEMBERS, *BOX_MEMBERS) if member.name == name), name)
    return lower_first(str(label).partition(" (")[0])
