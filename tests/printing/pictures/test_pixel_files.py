"""Large JPEG pictures whose pixels lie in a file: the same pixels as Pillow's, in the memory of a strip."""

import io
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image, ImageOps

from printing.pictures import pixel_files
from printing.pictures.pixel_files import PixelFiles

ROOT = Path(__file__).parents[3]
SIZE = (61, 47)
# A loaded machine gives pages back later: 55 and 184 when idle.
BASE_MB, MOST_MB = 150, 300


@pytest.fixture(autouse=True)
def _few_rows(monkeypatch):
    monkeypatch.setattr(pixel_files, "STRIP_BYTES", 2_000)


def photo(mode, orientation=1, **options):
    exif, out = Image.Exif(), io.BytesIO()
    exif[0x0112] = orientation
    noise = Image.effect_noise(SIZE, 40)
    shades = [noise, noise.rotate(180), Image.linear_gradient("L").resize(SIZE), noise]
    picture = Image.merge(mode, shades[: len(mode)]) if len(mode) > 1 else noise
    picture.save(out, "JPEG", exif=exif, **options)
    return out.getvalue()


@pytest.mark.parametrize("orientation", range(10))
@pytest.mark.parametrize("mode", ["L", "RGB", "CMYK"])
def test_picture_is_saved_upright_with_the_pixels_of_the_whole(tmp_path, mode, orientation):
    content = photo(mode, orientation, progressive=orientation % 2)
    with Image.open(io.BytesIO(content)) as whole:
        expected = ImageOps.exif_transpose(whole)
        out = io.BytesIO()
        expected.info = {}
        expected.save(out, "JPEG", quality=95, subsampling=0)
    with Image.open(io.BytesIO(content)) as source, PixelFiles(tmp_path) as files:
        files.load(source)
        size = files.save(source, lambda strip: strip, tmp_path / "saved", quality=95, subsampling=0)

    assert size == expected.size
    assert (tmp_path / "saved").read_bytes() == out.getvalue()
    assert [each.name for each in tmp_path.iterdir()] == ["saved"]


def test_damaged_picture_is_an_error(tmp_path):
    damaged = io.BytesIO(photo("RGB")[:-200])
    with (
        Image.open(damaged) as source,
        PixelFiles(tmp_path) as files,
        pytest.raises(OSError, match="truncated"),
    ):
        files.load(source)


@pytest.mark.parametrize(
    ("mode", "options", "most"),
    [("CMYK", {}, BASE_MB), ("RGB", {"progressive": True}, MOST_MB)],
)
def test_cleaning_a_picture_at_the_limit_takes_no_memory_for_its_pixels(tmp_path, mode, options, most):
    """Before: 413 and 407 MB; what a progressive one keeps is 150 MB."""
    exif, out = Image.Exif(), io.BytesIO()
    exif[0x0112] = 6
    small = Image.linear_gradient("L").resize((10_000, 5_000)).convert(mode)
    small.save(out, "JPEG", quality=60, exif=exif, **options)
    del small
    (tmp_path / "picture").write_bytes(out.getvalue())
    code = (
        "import sys; from pathlib import Path; from printing.press.uploads import clean_in_folder;"
        "print(clean_in_folder(Path(sys.argv[1]))['shape']);"
        "print(*[line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    shape, peak = done.stdout.splitlines()

    assert shape == "['JPEG', 5000, 10000]"
    assert int(peak) / 1024 < most
