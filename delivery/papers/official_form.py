"""PS Form 3587 as the Postal Service publishes it: read which fields a PDF has, and fill them. No database.

A mapping has the name of a field of the PDF for each of VALUES that is to be filled. Fields of a row have {n} in
place of the row's number: "ZIP{n}" fills ZIP1, ZIP2 and so on. A drop with more routes than the form has rows gets
as many copies as it takes; amounts of the drop are the same on each.
"""

import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pikepdf
from django.utils.translation import gettext_lazy
from pikepdf.form import ExtendedAppearanceStreamGenerator, Form, TextField

from fulfillment.core.errors import Fault, Invalid

MAX_FORM_BYTES = 5_000_000
MAX_PAGES = 12
MAX_FIELDS = 600
MAX_COPIES = 60
# The limit of all copies together.
MAX_FILLED_BYTES = 60_000_000
# What pikepdf raises for a form whose parts do not fit together.
UNFILLABLE = (pikepdf.PdfError, KeyError, TypeError, ValueError)
ROW_NUMBER = "{n}"
MAX_ROWS = 200

VALUES = {
    "mailer": gettext_lazy("Mailer's name"),
    "mailer_address": gettext_lazy("Mailer's address, in one line"),
    "phone": gettext_lazy("Mailer's telephone"),
    "email": gettext_lazy("Mailer's e-mail"),
    "preparer": gettext_lazy("Mail preparer (the store)"),
    "office": gettext_lazy("Post office of mailing"),
    "date": gettext_lazy("Mailing date, MM/DD/YYYY"),
    "pieces": gettext_lazy("Pieces of the drop"),
    "bundles": gettext_lazy("Bundles of the drop"),
    "routes": gettext_lazy("Routes of the drop"),
    "rate": gettext_lazy("Price of a piece"),
    "postage": gettext_lazy("Total postage"),
    "weight": gettext_lazy("Weight of a piece"),
    "thickness": gettext_lazy("Thickness of a piece"),
    "crid": gettext_lazy("Customer Registration ID (CRID)"),
    "payment": gettext_lazy("Method of payment"),
    "order": gettext_lazy("Order number"),
}
ROW_VALUES = {
    "row_code": gettext_lazy("ZIP code of a row"),
    "row_route": gettext_lazy("Carrier route of a row"),
    "row_pieces": gettext_lazy("Pieces of a row"),
    "row_bundles": gettext_lazy("Bundles of a row"),
}
# Words in a field's name that suggest its value; all words of a group must occur.
HINTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "mailer": (("mailer", "name"), ("customer", "name")),
    "mailer_address": (("mailer", "address"), ("address",)),
    "phone": (("telephone",), ("phone",)),
    "email": (("email",), ("e-mail",)),
    "preparer": (("agent",), ("preparer",)),
    "office": (("post", "office"),),
    "date": (("mailing", "date"), ("date",)),
    "pieces": (("total", "pieces"), ("number", "pieces")),
    "bundles": (("total", "bundles"), ("number", "bundles")),
    "routes": (("total", "routes"), ("number", "routes")),
    "rate": (("price", "piece"), ("postage", "piece"), ("rate",)),
    "postage": (("total", "postage"),),
    "weight": (("weight",),),
    "thickness": (("thickness",),),
    "crid": (("crid",), ("registration", "id")),
    "payment": (("method", "payment"),),
    "row_code": (("zip",),),
    "row_route": (("route",),),
    "row_pieces": (("pieces",),),
    "row_bundles": (("bundles",),),
}


def read_field_names(content: bytes) -> list[str]:
    """The names of the text fields of the form; raises Invalid for a PDF that cannot be filled."""
    if len(content) > MAX_FORM_BYTES:
        raise _form_error(
            "form_too_large", f"The form has {len(content):,} bytes; at most {MAX_FORM_BYTES:,} are allowed."
        )
    try:
        with pikepdf.open(io.BytesIO(content)) as pdf:
            if len(pdf.pages) > MAX_PAGES:
                raise _form_error(
                    "form_too_long",
                    f"The form has {len(pdf.pages)} pages; at most {MAX_PAGES} are allowed.",
                )
            names = [name for name, field in Form(pdf).items() if isinstance(field, TextField) and name]
    except pikepdf.PasswordError as error:
        raise _form_error("form_locked", "The PDF has a password. Remove it first.") from error
    except pikepdf.PdfError as error:
        raise _form_error("form_unreadable", "This is no PDF, or it is damaged.") from error
    if not names:
        raise _form_error(
            "form_without_fields",
            "The PDF has no text fields to fill: it is flat, or an XFA form. Save it as an AcroForm.",
        )
    if len(names) > MAX_FIELDS:
        raise _form_error(
            "form_too_large", f"The form has {len(names)} fields; at most {MAX_FIELDS} are allowed."
        )
    return names


def names_in_folder(folder: Path) -> dict[str, Any]:
    """A task of printing.bounded: a small PDF can unpack to any size."""
    try:
        return {"names": read_field_names((folder / "form").read_bytes())}
    except Invalid as error:
        return {"code": error.code, "message": error.message}


def fill_in_folder(
    folder: Path, mapping: Mapping[str, str], names: Sequence[str], sheets: Mapping[str, Any]
) -> int | None:
    """A task of printing.bounded: writes all copies to `filled`; their number, or None for a damaged form."""
    try:
        copies = fill_forms((folder / "form").read_bytes(), mapping, names, sheets)
        (folder / "filled").write_bytes(append_forms(copies[0], copies[1:]) if copies else b"")
    except UNFILLABLE:
        return None
    return len(copies)


def suggest_mapping(names: Sequence[str]) -> dict[str, str]:
    """Suggests a mapping by the words in field names, for review by an operator."""
    mapping: dict[str, str] = {}
    patterns = dict.fromkeys(re.sub(r"\d+(?=\D*\Z)", ROW_NUMBER, name) for name in names)
    # A single row is no table.
    rows = {pattern: row_names for pattern in patterns if len(row_names := _row_names(pattern, names)) > 1}
    single_names = [name for name in names if not any(name in row_names for row_names in rows.values())]
    for key in (*VALUES, *ROW_VALUES):
        candidates = list(rows) if key in ROW_VALUES else single_names
        unused_names = [name for name in candidates if name not in mapping.values()]
        if hinted := _hinted_name(HINTS.get(key, ()), unused_names):
            mapping[key] = hinted
    return mapping


def check_mapping(mapping: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    """The mapping without empty entries; raises Invalid with each invalid entry."""
    faults = []
    field_names = set(names)
    for key, name in mapping.items():
        if not name:
            continue
        if key in ROW_VALUES and ROW_NUMBER not in name:
            faults.append(
                Fault(f"/{key}", "row_number_missing", f"Write {ROW_NUMBER} for the number of the row.")
            )
        elif key in ROW_VALUES and not _rows_of(name, field_names):
            first = name.replace(ROW_NUMBER, "1")
            faults.append(Fault(f"/{key}", "field_unknown", f"The form has no field {first!r}."))
        elif key not in ROW_VALUES and name not in field_names:
            faults.append(Fault(f"/{key}", "field_unknown", f"The form has no field {name!r}."))
    if faults:
        raise Invalid("The mapping does not fit the form.", code="mapping_invalid", faults=faults)
    return {key: name for key, name in mapping.items() if name}


def rows_of_a_copy(mapping: Mapping[str, str], names: Sequence[str]) -> int:
    """How many routes one copy of the form lists; 0 if no row is mapped."""
    field_names = set(names)
    return min((_rows_of(mapping[key], field_names) for key in ROW_VALUES if mapping.get(key)), default=0)


def copies_needed(mapping: Mapping[str, str], names: Sequence[str], sheets: Mapping[str, Any]) -> int:
    rows = rows_of_a_copy(mapping, names)
    return sum(max(1, -(-len(drop["rows"]) // rows)) if rows else 1 for drop in sheets["drops"])


def fill_forms(
    content: bytes, mapping: Mapping[str, str], names: Sequence[str], sheets: Mapping[str, Any]
) -> list[bytes]:
    """A flat PDF of each copy; call it for at most MAX_COPIES."""
    rows = rows_of_a_copy(mapping, names)
    copies = []
    for drop in sheets["drops"]:
        parts = (
            [drop["rows"][start : start + rows] for start in range(0, len(drop["rows"]), rows)]
            if rows
            else [[]]
        )
        copies += [
            _fill_form(content, _collect_values(mapping, sheets, drop, part)) for part in parts or [[]]
        ]
    return copies


def append_forms(papers: bytes, forms: Sequence[bytes]) -> bytes:
    """One PDF: the papers, then the filled forms."""
    if not forms:
        return papers
    output = io.BytesIO()
    with pikepdf.open(io.BytesIO(papers)) as output_pdf:
        for form in forms:
            with pikepdf.open(io.BytesIO(form)) as copy:
                output_pdf.pages.extend(copy.pages)
        output_pdf.save(output, deterministic_id=True)
    return output.getvalue()


def _collect_values(
    mapping: Mapping[str, str], sheets: Mapping[str, Any], drop: Mapping[str, Any], rows: Sequence[Any]
) -> dict[str, str]:
    mailer = sheets["mailer"] or [""]
    texts = {
        "mailer": mailer[0],
        "mailer_address": ", ".join(mailer[1:]),
        "phone": sheets["phone"],
        "email": sheets["email"],
        "preparer": sheets["preparer"],
        "office": drop["office"],
        "date": drop["date_short"],
        "pieces": f"{drop['pieces']:,}",
        "bundles": f"{drop['bundles']:,}",
        "routes": f"{len(drop['rows']):,}",
        "rate": drop["rate"] or "",
        "postage": drop["postage"] or "",
        "weight": sheets["weight"],
        "thickness": sheets["thickness"],
        "crid": sheets["crid"],
        "payment": sheets["payment"],
        "order": sheets["order"],
    }
    values = {mapping[key]: text for key, text in texts.items() if key in mapping}
    for number, row in enumerate(rows, start=1):
        for key in ROW_VALUES:
            if key in mapping:
                values[mapping[key].replace(ROW_NUMBER, str(number))] = str(row[key.removeprefix("row_")])
    return values


def _fill_form(content: bytes, values: Mapping[str, str]) -> bytes:
    output = io.BytesIO()
    with pikepdf.open(io.BytesIO(content)) as pdf:
        form = Form(pdf, ExtendedAppearanceStreamGenerator, ignore_max_length=True)
        for name, text in values.items():
            field = form[name]
            # The standard fonts of PDF forms have Western letters only.
            field.value = text.encode("cp1252", "replace").decode("cp1252")
        pdf.flatten_annotations("all")
        _remove_fields(pdf)
        pdf.save(output, deterministic_id=True)
    return output.getvalue()


def _remove_fields(pdf: pikepdf.Pdf) -> None:
    """Removes the form fields, whose values are drawn on the page: copies in one file may not share names."""
    for page in pdf.pages:
        annotations = [
            annotation
            for annotation in page.get("/Annots", ())
            if annotation.get("/Subtype") != pikepdf.Name.Widget
        ]
        page.Annots = pikepdf.Array(annotations)
    if "/AcroForm" in pdf.Root:
        del pdf.Root["/AcroForm"]


def _rows_of(pattern: str, field_names: set[str]) -> int:
    count = 0
    while count < MAX_ROWS and pattern.replace(ROW_NUMBER, str(count + 1)) in field_names:
        count += 1
    return count


def _row_names(pattern: str, names: Sequence[str]) -> list[str]:
    if ROW_NUMBER not in pattern:
        return []
    return [pattern.replace(ROW_NUMBER, str(number + 1)) for number in range(_rows_of(pattern, set(names)))]


def _hinted_name(groups: Sequence[Sequence[str]], names: Sequence[str]) -> str:
    for words in groups:
        for name in names:
            if all(word in name.lower() for word in words):
                return name
    return ""


def _form_error(code: str, message: str) -> Invalid:
    return Invalid.at("/file", code, message)
