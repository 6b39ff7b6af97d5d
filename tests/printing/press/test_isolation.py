"""Large pictures are decoded in a process of their own, with the same result."""

import fcntl
import io
import threading
import time
import zlib
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from zlib import crc32

import pytest
from PIL import Image, ImageFile

from printing import waiting
from printing.bounded import RenderingBusy, caller
from printing.pictures import held_samples
from printing.preflight.pictures import facts_of
from printing.press import isolation
from printing.press.colors import separation_of
from printing.press.pictures import reshape, separate_picture
from printing.press.profiles import SHIPPED
from printing.press.uploads import UploadRefused, clean_upload
from printing.typesetting.artwork import ArtworkInvalid, measure_picture, shrink_picture
from tests.support.patience import PATIENCE, wait_for

SIZE = (401, 300)


def large(form: str, mode: str = "RGB", **options: object) -> bytes:
    out = io.BytesIO()
    shade = Image.linear_gradient("L").resize(SIZE)
    picture = Image.merge("RGB", (shade, shade.transpose(Image.Transpose.ROTATE_180).resize(SIZE), shade))
    picture.convert(mode).save(out, form, **({"compress_level": 1} if form == "PNG" else {}), **options)
    return out.getvalue()


def pixels(content: bytes) -> tuple[str, bytes]:
    with Image.open(io.BytesIO(content)) as picture:
        return picture.mode, picture.tobytes()


@pytest.fixture(autouse=True)
def what_is_large(monkeypatch):
    monkeypatch.setattr(isolation, "LARGE_PIXELS", 100_000)


@pytest.fixture
def no_decoding(monkeypatch):
    """A web process would keep what a large picture takes."""

    def load(picture):
        size = picture.width * picture.height
        assert max(size, held_samples(picture)) <= isolation.LARGE_PIXELS, f"{picture.size} decoded here"
        return original(picture)

    original = ImageFile.ImageFile.load

    @contextmanager
    def refusing():
        with monkeypatch.context() as patched:
            patched.setattr(ImageFile.ImageFile, "load", load)
            yield

    return refusing


@pytest.mark.parametrize("form", ["JPEG", "MPO", "PNG"])
def test_large_pictures_are_cleaned_and_separated_apart_with_the_same_pixels(no_decoding, form):
    content = large(form)
    cleaned = asdict(clean_upload(content))
    shown = pixels(cleaned.pop("content"))
    separated = separate_picture(content, separation_of(SHIPPED.read_bytes(), 300))
    with no_decoding():
        apart = asdict(isolation.clean(content))
        assert isolation.separate(content, SHIPPED, 300) == separated

    assert pixels(apart.pop("content")) == shown
    assert apart == cleaned


@pytest.mark.parametrize(
    ("form", "mode", "orientation"),
    [
        ("PNG", "RGBA", 1),
        ("PNG", "LA", 1),
        ("PNG", "P", 1),
        ("PNG", "L", 8),
        ("JPEG", "RGB", 6),
        ("JPEG", "CMYK", 3),
        ("JPEG", "CMYK", 1),
        ("JPEG", "L", 5),
    ],
)
def test_large_pictures_of_every_kind_are_separated_apart_with_the_same_bytes(form, mode, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    content = large(form, mode, exif=exif)
    expected = separate_picture(content, separation_of(SHIPPED.read_bytes(), 220))

    assert isolation.separate(content, SHIPPED, 220) == expected


def test_large_pictures_are_measured_and_shrunk_apart(no_decoding):
    content = large("PNG", "RGBA")
    with no_decoding():
        assert measure_picture(content, "image/png") == SIZE
        shrunk, facts = shrink_picture(content, (100, 99)), facts_of(content)

    with Image.open(io.BytesIO(shrunk)) as small:
        assert (small.size, small.mode) == ((100, 99), "RGBA")
    assert facts is not None
    assert (facts.width, facts.height, facts.thumbnail.size) == (*SIZE, (64, 64))


@pytest.mark.parametrize("mode", ["L", "P", "RGB", "RGBA"])
def test_large_png_is_shrunk_by_a_whole_number_first(mode):
    content = large("PNG", mode)
    with Image.open(io.BytesIO(content)) as picture:
        plain = picture.convert("RGB" if mode == "P" else mode)
        expected = plain.reduce((2, 1)).resize((100, 99), Image.Resampling.LANCZOS, (0, 0, 200.5, 300))
    small = isolation.shrink(content, (100, 99), "LANCZOS")
    assert (small.mode, small.tobytes()) == (expected.mode, expected.tobytes())


def test_whole_picture_is_shrunk_to_nearly_its_size():
    assert isolation.shrink(large("JPEG", progressive=True), (390, 290), "LANCZOS").size == (390, 290)


def test_large_pictures_are_reshaped_apart(no_decoding):
    content = large("JPEG")
    expected = [reshape(content, 1.0, crop=crop) for crop in (True, False)]
    with no_decoding():
        found = [isolation.reshape(content, SIZE, 1.0, crop=crop) for crop in (True, False)]

    assert found == expected


def test_large_progressive_jpeg_is_measured_and_shrunk_apart(no_decoding):
    """What a decoder keeps of one is the same at any size."""
    content, whole = large("JPEG", "CMYK", progressive=True), large("JPEG", "CMYK")
    expected = facts_of(whole)
    with no_decoding():
        assert measure_picture(content, "image/jpeg") == SIZE
        shrunk, facts = shrink_picture(content, (100, 99)), facts_of(content)

    assert pixels(shrunk)[0] == "RGB"
    assert facts is not None
    assert expected is not None
    assert (facts.mode, facts.ink) == (expected.mode, pytest.approx(expected.ink, abs=1))


def test_damaged_large_pictures_are_refused(no_decoding):
    content = large("PNG")[:-1000]
    with no_decoding():
        with pytest.raises(UploadRefused, match="readable"):
            isolation.clean(content)
        with pytest.raises(ArtworkInvalid, match="readable"):
            measure_picture(content, "image/png")
        with pytest.raises(ArtworkInvalid, match="damaged"):
            shrink_picture(content, (100, 100))


def test_picture_with_damaged_orientation_is_taken_as_it_lies():
    """A PNG with such metadata was a server error."""
    content = large("PNG")
    place = content.index(b"IDAT") - 4
    damaged = (
        content[:place] + b"\0\0\0\4eXIfnone" + zlib.crc32(b"eXIfnone").to_bytes(4, "big") + content[place:]
    )

    assert (
        pixels(clean_upload(damaged).content) == pixels(isolation.clean(damaged).content) == pixels(content)
    )


def test_one_large_picture_is_read_at_a_time_on_the_machine():
    """Another web process is another holder of the lock."""
    reading = threading.Thread(target=isolation.clean, args=(large("PNG"),))
    with Path(isolation.__file__).open("rb") as elsewhere:
        fcntl.flock(elsewhere, fcntl.LOCK_EX)
        reading.start()
        reading.join(1.5)
        waited = reading.is_alive()
    reading.join(PATIENCE)

    assert waited
    assert not reading.is_alive()


def test_one_large_picture_of_a_caller_waits_beside_those_of_others(monkeypatch):
    """Six of one caller let the proofs of others run out of time."""
    waiting = {}

    def flock(file, how):
        if file.name == isolation.__file__:
            waiting[threading.get_ident()] = caller.get()
        fcntl.flock(file, how)

    def read(who):
        caller.set(who)
        with isolation.one_at_a_time():
            pass

    monkeypatch.setattr(isolation, "fcntl", SimpleNamespace(**vars(fcntl) | {"flock": flock}))
    threads = [threading.Thread(target=read, args=(who,)) for who in ("greedy",) * 4 + ("other",)]
    with Path(isolation.__file__).open("rb") as elsewhere:
        fcntl.flock(elsewhere, fcntl.LOCK_EX)
        for thread in threads:
            thread.start()
        wait_for(lambda: "other" in waiting.values())
        before = sorted(waiting.values())
    for thread in threads:
        thread.join(PATIENCE)

    assert before == ["greedy", "other"]
    assert sorted(waiting.values()) == ["greedy"] * 4 + ["other"]


def test_large_picture_waits_no_longer_than_the_limit(monkeypatch):
    """It is the queue that is too long, not the picture that is at fault."""
    # Tests in other processes take turns as well.
    with isolation.one_at_a_time():
        monkeypatch.setattr(isolation, "TURN_SECONDS", 0.1)
        with pytest.raises(RenderingBusy, match="Other large pictures"):
            isolation.clean(large("PNG"))


def test_waits_of_a_request_have_one_limit_together(monkeypatch):
    """Several of a proof in a transaction were longer than a database lets it be idle."""
    monkeypatch.setattr(isolation, "TURN_SECONDS", 0.3)
    token = waiting.waited_before.set(waiting.waited_seconds())
    try:
        with Path(isolation.__file__).open("rb") as elsewhere:
            fcntl.flock(elsewhere, fcntl.LOCK_EX)
            for _ in range(5):
                with pytest.raises(RenderingBusy):
                    isolation.clean(large("PNG"))
        assert 0.3 <= waiting.waited_of_request() < 1.2
    finally:
        waiting.waited_before.reset(token)


def test_wait_is_no_time_of_the_work():
    """What is large to prepare waits before the renderer does."""
    with Path(isolation.__file__).open("rb") as elsewhere:
        fcntl.flock(elsewhere, fcntl.LOCK_EX)
        end = threading.Timer(0.5, fcntl.flock, (elsewhere, fcntl.LOCK_UN))
        began, own = time.monotonic(), waiting.own_time()
        end.start()
        with isolation.one_at_a_time():
            assert time.monotonic() - began >= 0.5
            assert waiting.own_time() - own < 0.4
        end.join(PATIENCE)


def test_turn_that_nobody_waits_for_is_left_at_once(monkeypatch, tmp_path):
    """The pictures of a batch took the longer."""
    slept = []
    (tmp_path / "waiting").touch()
    monkeypatch.setattr(isolation, "_WAITING", tmp_path / "waiting")
    monkeypatch.setattr(isolation, "time", SimpleNamespace(monotonic=time.monotonic, sleep=slept.append))
    with isolation.one_at_a_time():
        pass

    assert isolation.LEFT_SECONDS not in slept


def test_turn_after_that_of_a_caller_is_the_others(monkeypatch, tmp_path):
    """Three at once of one caller, and one of another that arrives last."""
    # Of its own: tests in other processes take turns as well.
    places = [tmp_path / name for name in ("shared", "waiting", "greedy", "other")]
    for place in places:
        place.touch()
    monkeypatch.setattr(isolation, "_SHARED", places[0])
    monkeypatch.setattr(isolation, "_WAITING", places[1])
    monkeypatch.setattr(isolation, "_TURNS", places[2:])
    monkeypatch.setattr(isolation, "LEFT_SECONDS", 1.0)
    assert len({crc32(name) % 2 for name in (b"greedy", b"other")}) == 2
    order, held = [], threading.Event()

    def read(who, until=lambda: True):
        caller.set(who)
        with isolation.one_at_a_time():
            order.append(who)
            held.set()
            wait_for(until)

    threads = [threading.Thread(target=read, args=("greedy", isolation._others_wait))]
    threads[0].start()
    held.wait(PATIENCE)
    threads += [threading.Thread(target=read, args=(who,)) for who in ("greedy", "greedy", "other")]
    for thread in threads[1:]:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)

    assert order == ["greedy", "other", "greedy", "greedy"]
