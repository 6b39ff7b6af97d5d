"""Operators' fonts as local files, because the typesetter reads no others."""

import tempfile
from functools import cache, lru_cache
from pathlib import Path

from django.core.files.storage import default_storage

from fulfillment.core.files.storage import storage_errors
from fulfillment.core.files.stored import read_file
from printing.typesetting import FontSet
from stores.templates.models import Font


def font_set() -> FontSet:
    return font_set_of(tuple(font_file(font) for font in Font.objects.order_by("pk")))


def font_names() -> str:
    """The storage names of all operators' fonts, comma separated."""
    return ",".join(font_file(font) for font in Font.objects.order_by("pk"))


@lru_cache(maxsize=4)
def font_set_of(names: tuple[str, ...]) -> FontSet:
    """The shipped fonts and these stored font files."""
    with storage_errors():
        paths = [_local(name) for name in names]
    return FontSet.shipped().with_files(paths) if paths else FontSet.shipped()


def font_file(font: Font) -> str:
    return f"fonts/{font.sha256}{font.suffix}"


def _local(name: str) -> Path:
    try:
        return Path(default_storage.path(name))
    except NotImplementedError:
        path = Path(_folder().name) / Path(name).name
        if not path.exists():
            path.write_bytes(read_file(name))
        return path


@cache
def _folder() -> "tempfile.TemporaryDirectory[str]":
    """Removed when the process ends."""
    return tempfile.TemporaryDirectory(prefix="operator-fonts-")
