"""Programs of others that read print files: tests need them, the service does not."""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.support.patience import PATIENCE

REQUIRED = os.environ.get("PRESS_TESTS") == "required"
PACKAGES = {"gs": "ghostscript", "qpdf": "qpdf", "pdfinfo": "poppler-utils", "mutool": "mupdf-tools"}
PLATES = ("Cyan", "Magenta", "Yellow", "Black")


def run(program: str, *arguments: str, check: bool = True) -> str:
    """What the program says; without it the test is skipped, unless PRESS_TESTS=required."""
    if shutil.which(program) is None:
        sentence = f"{program} is not installed: install the package {PACKAGES[program]}."
        if REQUIRED:
            pytest.fail(sentence)
        pytest.skip(sentence)
    result = subprocess.run(
        [program, *arguments], capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert not check or result.returncode == 0, result.stdout + result.stderr
    return result.stdout + result.stderr


def plates(folder: Path, content: bytes, *, dpi: int = 150, page: int = 1) -> dict[str, np.ndarray]:
    """How much of each ink is on each place of a page, from 0 to 1, as Ghostscript separates it."""
    (folder / "file.pdf").write_bytes(content)
    for old in folder.glob("plate*"):
        old.unlink()
    run(
        *("gs", "-q", "-dNOPAUSE", "-dBATCH", "-dSAFER", "-sDEVICE=tiffsep", f"-r{dpi}"),
        *(
            f"-dFirstPage={page}",
            f"-dLastPage={page}",
            f"-sOutputFile={folder}/plate-%d.tif",
            f"{folder}/file.pdf",
        ),
    )
    plate_by_name = {}
    for path in folder.glob("plate-*(*).tif"):
        name = path.stem.partition("(")[2].rstrip(")")
        with Image.open(path) as plate:
            plate_by_name[name] = 1 - np.asarray(plate.convert("L"), dtype=np.float32) / 255
    return plate_by_name


def inside(plate: np.ndarray, inset_mm: float, dpi: int = 150) -> np.ndarray:
    """The part of a plate that is so far from the edge of the sheet."""
    edge = round(inset_mm / 25.4 * dpi)
    return plate[edge : plate.shape[0] - edge, edge : plate.shape[1] - edge]
