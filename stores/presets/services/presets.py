from collections.abc import Mapping

from django.db import transaction
from django.db.models import ProtectedError

from fulfillment.core.errors import Conflict, Fault
from stores.presets.models import PrintPreset

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
        products = ", ".join(sorted(str(one) for one in list(error.protected_objects)[:5]))
        message = f"The preset is used by {products}; choose another one there first."
        raise Conflict(message, code="preset_in_use") from error
