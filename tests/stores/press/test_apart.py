"""Large pictures are decoded in a process of their own, with the same result."""

import io
from dataclasses import asdict

import pytest
from PIL import Image, ImageFile

from stores.preflight.pictures import facts_of
from stores.press import apart
from stores.press.colours import separation_of
from stores.press.pictures import separate_picture
from stores.press.profiles import SHIPPED
from stores.press.uploads import UploadRefused, clean_upload
from stores.typesetting.artwork import ArtworkInvalid, measure_picture, shrink_picture

SIZE = (401, 300)


def large(form: str, mode: str = "RGB") -> bytes:
    out = io.BytesIO()
    shade = Image.linear_gradient("L").resize(SIZE)
    picture = Image.merge("RGB", (shade, shade.transpose(Image.Transpose.ROTATE_180).resize(SIZE), shade))
    picture.convert(mode).save(out, form, **({"compress_level": 1} if form == "PNG" else {}))
    return out.getvalue()


@pytest.fixture(autouse=True)
def what_is_large(monkeypatch):
    monkeypatch.setattr(apart, "LARGE_PIXELS", 100_000)


@pytest.fixture
def no_decoding(monkeypatch):
    """A web process would keep what a large picture takes."""

    def load(picture):
        size = picture.width * picture.height
        assert size <= apart.LARGE_PIXELS, f"{picture.size} decoded here"
        return original(picture)

    original = ImageFile.ImageFile.load
    return lambda: monkeypatch.setattr(ImageFile.ImageFile, "load", load)


@pytest.mark.parametrize("form", ["JPEG", "PNG"])
def test_large_pictures_are_cleaned_and_separated_apart_with_the_same_bytes(no_decoding, form):
    content = large(form)
    cleaned = asdict(clean_upload(content))
    separated = separate_picture(content, separation_of(SHIPPED.read_bytes(), 300))
    no_decoding()

    assert asdict(apart.clean(content)) == cleaned
    assert apart.separate(content, SHIPPED, 300) == separated


def test_large_pictures_are_measured_and_shrunk_apart(no_decoding):
    content = large("PNG", "RGBA")
    no_decoding()

    assert measure_picture(content, "image/png") == SIZE
    with Image.open(io.BytesIO(shrink_picture(content, (100, 99)))) as small:
        assert (small.size, small.mode) == ((100, 99), "RGBA")
    facts = facts_of(content)
    assert facts is not None
    assert (facts.width, facts.height, facts.thumbnail.size) == (*SIZE, (64, 64))


def test_damaged_large_pictures_are_refused(no_decoding):
    content = large("PNG")[:-1000]
    no_decoding()

    with pytest.raises(UploadRefused, match="readable"):
        apart.clean(content)
    with pytest.raises(ArtworkInvalid, match="readable"):
        measure_picture(content, "image/png")
    with pytest.raises(ArtworkInvalid, match="damaged"):
        shrink_picture(content, (100, 100))
