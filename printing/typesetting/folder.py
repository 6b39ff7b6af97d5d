import base64
import json
from pathlib import Path
from typing import Any

from printing.typesetting.fields import Field

MEDIA_TYPES = {
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".pdf": "application/pdf",
}


def load_template_folder(folder: Path) -> dict[str, Any]:
    """Assemble template.json and the artwork files beside it (gallery pictures in `gallery/`) to one JSON value."""
    template: dict[str, Any] = json.loads((folder / "template.json").read_text("utf-8"))
    template["Artwork"] = {path.name: _entry(path) for path in _artwork_files(folder)}
    gallery = folder / "gallery"
    if gallery.is_dir():
        template["Gallery"] = {path.stem: _entry(path) for path in _artwork_files(gallery)}
    return template


def load_fields(folder: Path) -> tuple[Field, ...]:
    """Read fields.json, an array of the contract's TemplateField objects with Choices where needed."""
    return tuple(read_field(entry) for entry in json.loads((folder / "fields.json").read_text("utf-8")))


def load_sample(folder: Path) -> dict[str, str]:
    """Read sample.json, values that show the template at its best."""
    sample: dict[str, str] = json.loads((folder / "sample.json").read_text("utf-8"))
    return sample


def read_field(entry: dict[str, Any]) -> Field:
    return Field(
        field_name=entry["FieldName"],
        prompt=entry.get("Prompt") or "",
        type=entry.get("Type") or "Text",
        sub_type=entry.get("SubType") or "SingleLine",
        required=bool(entry.get("Required")),
        default_value=entry.get("DefaultValue") or "",
        org_value=entry.get("OrgValue") or "",
        choices=tuple(entry.get("Choices") or ()),
    )


def _artwork_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix in MEDIA_TYPES)


def _entry(path: Path) -> dict[str, str]:
    media_type = MEDIA_TYPES[path.suffix]
    if media_type == "image/svg+xml":
        return {"MediaType": media_type, "Data": path.read_text("utf-8")}
    return {"MediaType": media_type, "Data": base64.b64encode(path.read_bytes()).decode()}
