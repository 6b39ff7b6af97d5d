"""The signed addresses of proofs and assets, and the stored file of each.

They work for a month without credentials, and cannot be guessed or changed. The signature covers the kind of file, its
identity, its name and the day of expiry, so that a file is served without a database query. Two addresses of a file
signed on the same day are equal.
"""

import hashlib
import hmac
import re
import time
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple
from uuid import UUID

from django.conf import settings
from django.utils.crypto import constant_time_compare
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode
from django.utils.translation import gettext as _

from fulfillment.core.errors import DomainError
from stores.proofs.file_names import asset_file, document_file, proof_files, wide_page_file
from stores.proofs.models import Asset
from stores.proofs.selectors import StoredProof

DAY = 86_400
# The current day counts as a whole day: an address is valid for at least 30 days.
DAYS = 31
MAC_BYTES = 16
DAY_BYTES = 3
PROOFS, ASSETS = "proofs", "assets"
MEDIA_TYPES = {"pdf": "application/pdf", "png": "image/png", "jpg": "image/jpeg"}
_PAGE = re.compile(r"-page-([1-9][0-9]{0,2})\.png\Z")
MAX_WIDTH = 3000
# Widths are rounded up to a multiple of this, so that few pictures of a page are kept.
WIDTH_STEP = 100
_WIDTH = re.compile(r"[0-9]{1,4}\Z")
# The widths of pictures from which a browser takes one that is sharp on its screen.
SHOWN_WIDTHS = (800, 1200, 1600, 2400)


class LinkRefused(DomainError):
    """This service has not signed the address, or not in this form, or its time is over."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def signed_urls(kind: str, identity: bytes, names: Iterable[str]) -> list[str]:
    """The addresses of the files of one proof or picture."""
    key, root = settings.SECRET_KEY, f"{settings.PUBLIC_URL}/{kind}"
    day = (int(time.time()) // DAY + DAYS).to_bytes(DAY_BYTES)
    return [
        f"{root}/{urlsafe_base64_encode(identity + day + _make_mac(key, kind, identity, day, name))}/{name}"
        for name in names
    ]


def read_link(kind: str, token: str, name: str) -> tuple[bytes, int]:
    """The identity of the file, and the seconds until the address expires."""
    content = _read_token(token)
    identity, day = content[: -MAC_BYTES - DAY_BYTES], content[-MAC_BYTES - DAY_BYTES : -MAC_BYTES]
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    macs = [_make_mac(key, kind, identity, day, name) for key in keys]
    if not any(constant_time_compare(mac, content[-MAC_BYTES:]) for mac in macs):
        raise _not_signed()
    seconds = int.from_bytes(day) * DAY - int(time.time())
    if seconds <= 0:
        raise LinkRefused(410, _("This link has expired. Create the proof again for a new one."))
    return identity, seconds


def _make_mac(key: str, kind: str, identity: bytes, day: bytes, name: str) -> bytes:
    message = b"\0".join([kind.encode(), name.encode(), day, identity])
    return hmac.digest(_mac_key(key), message, "sha256")[:MAC_BYTES]


@lru_cache(maxsize=8)
def _mac_key(key: str) -> bytes:
    """The key as `django.utils.crypto.salted_hmac` derives it, once."""
    return hashlib.sha256(b"stores.proofs.links" + key.encode()).digest()


def _read_token(token: str) -> bytes:
    try:
        content = urlsafe_base64_decode(token)
    except ValueError as error:
        raise _not_signed() from error
    # The decoder skips invalid characters; only the spelling that this service signed is accepted.
    is_as_signed = constant_time_compare(urlsafe_base64_encode(content), token)
    if not is_as_signed or len(content) <= MAC_BYTES + DAY_BYTES:
        raise _not_signed()
    return content


def _not_signed() -> LinkRefused:
    return LinkRefused(
        403,
        _("This link is not valid: it is incomplete or was changed. Create the proof again for a new one."),
    )


class ProofURLs(NamedTuple):
    pdf: str
    pages: list[str]


class LinkedFile(NamedTuple):
    """`tag` is the ETag: equal only for equal bytes. `page` and `width` are 0 where the file has none."""

    file_name: str
    media_type: str
    tag: str
    page: int = 0
    width: int = 0


def proof_urls(proof: StoredProof, product_id: str) -> ProofURLs:
    names = [f"{product_id}-page-{page}.png" for page in range(1, proof.page_count + 1)]
    pdf, *pages = signed_urls(PROOFS, bytes.fromhex(proof.digest), [f"{product_id}.pdf", *names])
    return ProofURLs(pdf, pages)


def asset_url(asset: Asset) -> str:
    if asset.is_document:
        return signed_urls(ASSETS, bytes.fromhex(asset.sha256), ["artwork.pdf"])[0]
    return signed_urls(ASSETS, asset.pk.bytes, [f"image.{asset.format}"])[0]


def make_page_sources(url: str, size: tuple[float, float], proof_dpi: float) -> str:
    """The `srcset` of a page of this size in mm."""
    stored = round(size[0] / 25.4 * proof_dpi)
    widths = [f"{url}?width={width} {width}w" for width in SHOWN_WIDTHS if width > stored]
    return ", ".join([f"{url} {stored}w", *widths])


def find_linked_file(kind: str, identity: bytes, name: str, width: str | None = None) -> LinkedFile:
    """Finds the file of a name whose signature was checked, and that therefore has one of the forms above.

    `width` is that of a page in pixels, as the caller sent it.
    """
    suffix = name.rpartition(".")[2]
    tag = f"{identity.hex()}-{suffix}"
    if kind == ASSETS and suffix == "pdf":
        return LinkedFile(document_file(identity.hex()), MEDIA_TYPES[suffix], tag)
    if kind == ASSETS:
        return LinkedFile(asset_file(UUID(bytes=identity), suffix), MEDIA_TYPES[suffix], tag)
    page = _PAGE.search(name)
    number = int(page[1]) if page else 0
    if number and width is not None:
        pixels = _read_width(width)
        file = wide_page_file(identity.hex(), number, pixels)
        return LinkedFile(file, MEDIA_TYPES[suffix], f"{tag}-{number}-{pixels}", number, pixels)
    files = proof_files(identity.hex(), number)
    return LinkedFile(files[number], MEDIA_TYPES[suffix], f"{tag}-{number}")


def _read_width(width: str) -> int:
    if not _WIDTH.match(width) or not 1 <= int(width) <= MAX_WIDTH:
        message = _("The width must be a whole number of pixels from 1 to %(max_width)s.")
        raise LinkRefused(400, message % {"max_width": MAX_WIDTH})
    return -(-int(width) // WIDTH_STEP) * WIDTH_STEP
