"""Pictures for image fields: checked by their content and stored without metadata."""

import hashlib
import threading
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from io import BytesIO

from django.utils import timezone
from PIL import Image, ImageCms, ImageOps

from accounts.callers import Caller
from fulfillment.core.errors import Invalid
from fulfillment.core.files.pictures import (
    PictureTooLarge,
    PictureUnreadable,
    encoded,
    has_transparency,
    open_picture,
)
from fulfillment.core.files.storage import storage_errors
from fulfillment.core.files.stored import asset_file, write_files
from fulfillment.core.lanes import PICTURES
from stores.proofs.models import Asset, AssetFormat, PlatesFormat

MAXIMUM_BYTES = 10 * 1024 * 1024
MAXIMUM_PIXELS = 50_000_000
# Larger pictures are decoded one at a time: each takes some hundred megabytes of memory.
LARGE_PIXELS = 8_000_000
FORMATS = ("PNG", "JPEG")
# By the colour space of a profile.
MODES = {"RGB": "RGB", "GRAY": "L", "CMYK": "CMYK"}
# Must be far less than ASSET_DAYS_KEPT.
TOUCH_AFTER = timedelta(days=1)
ALLOWED = "Allowed is one PNG or JPEG picture of at most 10 MB (10,485,760 bytes) and 50 megapixels."

_one_at_a_time = threading.Lock()


@dataclass(frozen=True, slots=True)
class CleanPicture:
    """A picture that was decoded and encoded again."""

    content: bytes
    form: AssetFormat
    width: int
    height: int
    # The original plates, if their inks or greys differ from those of the picture.
    plates: bytes = b""
    plates_form: str = ""


def add_asset(*, caller: Caller, store_id: int, picture: CleanPicture) -> Asset:
    """Stores the picture. The file is written before the row, so that no row lacks its file."""
    asset = Asset(
        store_id=store_id,
        application_id=caller.application_id,
        user_id=caller.user_id,
        is_test=caller.is_test,
        format=picture.form,
        sha256=hashlib.sha256(picture.content).hexdigest(),
        size=len(picture.content),
        width=picture.width,
        height=picture.height,
        plates=picture.plates_form,
    )
    files = [(asset_file(asset.pk, asset.format), picture.content)]
    if picture.plates:
        files.append((asset_file(asset.pk, asset.plates), picture.plates))
    with storage_errors():
        write_files(files)
    asset.save(force_insert=True)
    return asset


def touch_assets(*, assets: Iterable[Asset]) -> None:
    """Records the use of the pictures, at most once a day for each."""
    now = timezone.now()
    stale = [one.pk for one in assets if one.last_used < now - TOUCH_AFTER]
    if stale:
        Asset.objects.filter(pk__in=stale).update(last_used=now)


def clean_picture(*, caller: Caller, content: bytes) -> CleanPicture:
    """Checks and re-encodes an upload. Takes up to seconds, so call it outside of a transaction."""
    if len(content) > MAXIMUM_BYTES:
        raise _refused("asset_too_large", f"The file has more than {MAXIMUM_BYTES:,} bytes.")
    if not content:
        raise _refused("asset_empty", "The file is empty.")
    with PICTURES.slot(caller.key), large_picture_lock(content):
        try:
            source = open_picture(content, FORMATS, _check_header)
            ImageOps.exif_transpose(source, in_place=True)
            plates, plates_form = _plates(source)
            upright = _in_srgb(source)
        except PictureTooLarge as error:
            raise _refused("asset_too_many_pixels", "The picture has far too many pixels.") from error
        except PictureUnreadable as error:
            raise _refused("asset_unreadable", "The file is not a readable PNG or JPEG picture.") from error
        if source.format == "PNG":
            clean = encoded(upright, "PNG", compress_level=4)
            return CleanPicture(clean, AssetFormat.PNG, *upright.size, plates, plates_form)
        clean = encoded(upright, "JPEG", quality=95, subsampling=0)
        return CleanPicture(clean, AssetFormat.JPEG, *upright.size, plates, plates_form)


def large_picture_lock(content: bytes) -> AbstractContextManager[object]:
    try:
        with Image.open(BytesIO(content), formats=FORMATS) as picture:
            return _one_at_a_time if picture.width * picture.height > LARGE_PIXELS else nullcontext()
    except Exception:  # noqa: BLE001 - decoding reports the fault
        return nullcontext()


def _check_header(source: Image.Image) -> None:
    """Checks the size before decoding: a small file can contain a gigantic picture."""
    if source.width * source.height > MAXIMUM_PIXELS:
        size = f"{source.width:,} x {source.height:,} pixels"
        raise _refused("asset_too_many_pixels", f"The picture has {size}.")
    if source.format == "PNG" and getattr(source, "n_frames", 1) != 1:
        raise _refused("asset_animated", "The picture has more than one frame.")


def _plates(picture: Image.Image) -> tuple[bytes, str]:
    """The values of a picture in CMYK, and of a grey one with a profile, which the conversion to sRGB changes."""
    if picture.mode == "CMYK":
        return encoded(picture.copy(), "JPEG", quality=95, subsampling=0), PlatesFormat.JPEG
    if picture.mode == "L" and "icc_profile" in picture.info and not has_transparency(picture):
        if picture.format == "PNG" or picture.format is None:
            return encoded(picture.copy(), "PNG", compress_level=4), PlatesFormat.PNG
        return encoded(picture.copy(), "JPEG", quality=95), PlatesFormat.JPEG
    return b"", ""


def _in_srgb(picture: Image.Image) -> Image.Image:
    """Converts the colours, because the colour profile is removed with the other metadata."""
    profile, plain = picture.info.get("icc_profile"), _plain(picture)
    converted = _converted(plain, profile) if profile else None
    return converted or (plain.convert("RGB") if plain.mode == "CMYK" else plain)


def _plain(picture: Image.Image) -> Image.Image:
    """The same colours in one of the modes L, RGB, RGBA and CMYK."""
    if picture.mode.startswith("I"):
        return _of_eight_bits(picture)
    if has_transparency(picture):
        return picture.convert("RGBA")
    if picture.mode in {"L", "RGB", "CMYK"}:
        return picture
    return picture.convert("L" if picture.mode == "1" else "RGB")


def _of_eight_bits(picture: Image.Image) -> Image.Image:
    """Converts a grey PNG of 16 bits; `convert` would clip nearly all of it to white."""
    wide = picture.convert("I")
    shades = wide.point([round(value / 257) for value in range(65_536)], "L")
    clear = picture.info.get("transparency")
    if clear is None:
        return shades
    shown = wide.point([0 if value == clear else 255 for value in range(65_536)], "L")
    return Image.merge("RGBA", (shades, shades, shades, shown))


def _converted(picture: Image.Image, profile: bytes) -> Image.Image | None:
    """None if the profile is damaged, or for another colour mode than the picture's."""
    try:
        own = ImageCms.ImageCmsProfile(BytesIO(profile))
        mode = MODES.get(own.profile.xcolor_space.strip(), "")
        if (mode == "CMYK") != (picture.mode == "CMYK") or not mode:
            return None
        # The library converts colours only: transparency is restored afterwards.
        bands = picture.convert(mode)
        converted = ImageCms.profileToProfile(bands, own, ImageCms.createProfile("sRGB"), outputMode="RGB")
    except (ImageCms.PyCMSError, OSError):
        return None
    if converted is None:
        return None
    if picture.mode == "RGBA":
        converted.putalpha(picture.getchannel("A"))
    return converted.convert("L") if picture.mode == mode == "L" else converted


def _refused(code: str, fault: str) -> Invalid:
    return Invalid.at("", code, f"{fault} {ALLOWED}")
