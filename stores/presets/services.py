"""Changes of output profiles, and the deletion of print presets."""

import hashlib
from collections.abc import Mapping

from django.db import IntegrityError, transaction
from django.db.models import ProtectedError

from fulfillment.core.concurrency_limits import FILES
from fulfillment.core.errors import Conflict, Fault, Invalid
from printing.press.colors import read_profile
from printing.press.profiles import ProfileInvalid
from stores.presets.models import OutputProfile, PrintPreset

SEVERITIES = ("Error", "Warning", "Off")


def severity_faults(severities: object) -> list[Fault]:
    """The faults of the severities of a preset: an object of rule codes and severities."""
    if not isinstance(severities, Mapping):
        return [Fault("/severities", "not_an_object", "Write an object of rule codes and severities.")]
    allowed = ", ".join(SEVERITIES)
    return [
        Fault("/severities", "unknown_value", f"{code}: the severity is one of {allowed}.")
        for code, severity in severities.items()
        if severity not in SEVERITIES
    ]


@transaction.atomic
def remove_preset(*, preset: PrintPreset) -> None:
    """Raises Conflict while a product names it."""
    try:
        preset.delete()
    except ProtectedError as error:
        products = ", ".join(sorted(str(product) for product in list(error.protected_objects)[:5]))
        message = f"The preset is used by {products}; choose another one there first."
        raise Conflict(message, code="preset_in_use") from error


def add_profile(*, file_name: str, content: bytes) -> OutputProfile:
    """Checks and stores an ICC profile; presets may use it from then on."""
    sha256 = hashlib.sha256(content).hexdigest()
    already_added = Invalid.at("/file", "profile_known", "This file has already been added.")
    if OutputProfile.objects.filter(sha256=sha256).exists():
        raise already_added
    try:
        with FILES.slot():
            description = read_profile(content)
    except ProfileInvalid as error:
        raise Invalid.at("/file", error.code, str(error)) from error
    profile = OutputProfile(
        description=description, file_name=file_name[:200], sha256=sha256, size=len(content), content=content
    )
    try:
        with transaction.atomic():
            profile.save(force_insert=True)
    except IntegrityError as error:
        # Another request has just uploaded the same profile.
        raise already_added from error
    return profile


@transaction.atomic
def remove_profile(*, profile: OutputProfile) -> None:
    """Raises Conflict while a preset uses it."""
    try:
        profile.delete()
    except ProtectedError as error:
        names = ", ".join(sorted(str(preset) for preset in list(error.protected_objects)[:5]))
        raise Conflict(
            f"The profile is used by {names}; change these first.", code="profile_in_use"
        ) from error
