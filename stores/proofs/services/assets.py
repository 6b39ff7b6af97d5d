"""Pictures for image fields: checked by their content and stored without metadata."""

import hashlib
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from django.utils import timezone

from accounts.callers import Caller
from fulfillment.core.errors import Invalid
from fulfillment.core.files.storage import storage_errors
from fulfillment.core.files.stored import asset_file, write_files
from printing.bounded import TaskFailed
from printing.press import isolation
from printing.press.uploads import UploadRefused
from stores.concurrency_limits import PICTURES
from stores.proofs.models import Asset, AssetFormat, PlatesFormat

logger = logging.getLogger(__name__)

MAX_BYTES = 10 * 1024 * 1024
# Must be far less than ASSET_RETENTION_DAYS.
TOUCH_AFTER = timedelta(days=1)
ALLOWED = (
    "Send one PNG or JPEG picture of at most 10 MB (10,485,760 bytes) and 50 megapixels, or one PDF of at "
    "most 100 MB (104,857,600 bytes) and 200 pages."
)


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
    if len(content) > MAX_BYTES:
        raise _refused("asset_too_large", f"The file has more than {MAX_BYTES:,} bytes.")
    if not content:
        raise _refused("asset_empty", "The file is empty.")
    with PICTURES.limited(caller.key):
        try:
            upload = isolation.clean(content)
        except UploadRefused as error:
            raise _refused(error.code, str(error)) from error
        except TaskFailed as error:
            logger.warning("An uploaded picture could not be read", exc_info=error)
            raise _refused("asset_unreadable", "Reading the picture took too much memory or time.") from error
    plates_form = PlatesFormat[upload.plates_form] if upload.plates_form else ""
    form = AssetFormat[upload.form]
    return CleanPicture(upload.content, form, upload.width, upload.height, upload.plates, plates_form)


def _refused(code: str, fault: str) -> Invalid:
    return Invalid.at("", code, f"{fault} {ALLOWED}")
