"""The profile of a store in the directory."""

import hashlib
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from PIL import Image

from fulfillment.core.db.changes import saved_if_changed
from fulfillment.core.errors import Fault, Invalid
from printing.pictures.reading import (
    PictureTooLarge,
    PictureUnreadable,
    encoded,
    has_transparency,
    open_picture,
)
from stores.catalog.models import Store, StoreProfile

LOGO_BYTES = 1_048_576
LOGO_SIDE = 4096
# It is shown in a square of 64; three times that for dense screens.
SHOWN_SIDE = 192
ALLOWED = f"Allowed is one PNG or JPEG picture of at most 1 MB and {LOGO_SIDE} x {LOGO_SIDE} pixels."
COLUMNS = {"Country": "country", "Website": "website", "IsListed": "is_listed"}


@transaction.atomic
def save_profile(
    *, store: Store, values: Mapping[str, Any], logo: bytes | None = None, remove_logo: bool = False
) -> StoreProfile:
    """`values` under the names of COLUMNS; a `logo` replaces the one there is."""
    if faults := find_profile_faults(values=values, logo=logo):
        raise Invalid(faults[0].message, faults=faults)
    stored = StoreProfile.objects.filter(store=store)
    if not logo and not any(values[name] for name in COLUMNS) and not stored.exists():
        return StoreProfile(store=store)
    profile, _ = StoreProfile.objects.select_for_update().get_or_create(store=store)
    with saved_if_changed(profile):
        for name, column in COLUMNS.items():
            setattr(profile, column, values[name])
        if logo:
            profile.logo = _clean_logo(logo)
            profile.logo_sha256 = hashlib.sha256(profile.logo).hexdigest()
        elif remove_logo:
            profile.logo, profile.logo_sha256 = None, ""
    return profile


def find_profile_faults(*, values: Mapping[str, Any], logo: bytes | None) -> list[Fault]:
    """The faults `save_profile` would raise, for a form that shows all at once."""
    faults = []
    for name in ("Country", "Website"):
        try:
            StoreProfile(**{COLUMNS[name]: values[name]}).clean_fields(exclude=_others(COLUMNS[name]))
        except ValidationError as error:
            faults.append(Fault(f"/{name}", "invalid", " ".join(error.messages)))
    if logo:
        try:
            _clean_logo(logo)
        except Invalid as error:
            faults.append(Fault("/Logo", error.code, error.message))
    return faults


def _others(column: str) -> set[str]:
    return {field.name for field in StoreProfile._meta.fields} - {column}


def _clean_logo(content: bytes) -> bytes:
    if len(content) > LOGO_BYTES:
        raise Invalid(f"The file has {len(content):,} bytes. {ALLOWED}", code="logo_too_large")
    try:
        source = open_picture(content, ("PNG", "JPEG"), _check_header)
    except PictureTooLarge as error:
        raise Invalid(f"The picture has far too many pixels. {ALLOWED}", code="logo_too_large") from error
    except PictureUnreadable as error:
        raise Invalid(f"The file is not a readable picture. {ALLOWED}", code="logo_unreadable") from error
    picture = source.convert("RGBA" if has_transparency(source) else "RGB")
    picture.thumbnail((SHOWN_SIDE, SHOWN_SIDE))
    return encoded(picture, "PNG", optimize=True)


def _check_header(source: Image.Image) -> None:
    if max(source.size) > LOGO_SIDE:
        raise Invalid(
            f"The picture has {source.width} x {source.height} pixels. {ALLOWED}", code="logo_too_large"
        )
