"""Personal data in selections."""

from typing import Any

from delivery.selection.models import EddmSelection
from fulfillment.core.api.serializers import timestamp
from fulfillment.core.audit.personal_data import PersonalData, Record


def personal_data() -> list[PersonalData]:
    return [PersonalData("eddm_selections", _selections, _erase)]


def _selections(user: Any) -> list[Record]:
    made = EddmSelection.objects.filter(user=user).order_by("pk")
    return [
        {
            "SelectionID": str(one.pk),
            "Created": timestamp(one.created),
            "Pieces": one.pieces,
            "Criteria": one.criteria,
        }
        for one in made
    ]


def _erase(user: Any) -> None:
    """Deletes the user's selections; ordered ones stay without the user."""
    made = EddmSelection.objects.filter(user=user)
    made.filter(is_ordered=False).delete()
    made.update(user=None, criteria={})
