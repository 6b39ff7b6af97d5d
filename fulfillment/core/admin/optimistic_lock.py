"""A form that was opened before another change of the record does not silently overwrite that change."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Max

SEEN = "loaded_version"
CHANGED_SINCE = (
    "Another user changed this record after you opened it; its history shows who and what. Nothing has been saved. Your"
    " entries are below: save again to overwrite the other change."
)


def version_of(record: Any) -> str:
    """The version of a record: its newest audit entry; empty if its model has no trail."""
    events = getattr(record, "pgh_event_model", None)
    if events is None or record.pk is None:
        return ""
    newest = events.objects.filter(pgh_obj=record.pk).aggregate(newest=Max("pgh_id"))["newest"]
    return str(newest or "")


class OptimisticLockMixin:
    """For forms of one record, `instance`; their page sends back `loaded_version`, a request without it passes."""

    instance: Any
    data: Any
    fields: Any
    is_bound: bool
    is_stale = False

    @property
    def loaded_version(self) -> str:
        """The version that the page sends back: the one it was first loaded with, even after a fault. Empty without a
        lock.
        """
        if not self.fields:
            return ""
        seen: str | None = self.data.get(SEEN) if self.is_bound and not self.is_stale else None
        return version_of(self.instance) if seen is None else seen

    def clean(self) -> Any:
        cleaned = super().clean()  # type: ignore[misc]  # of the form mixed in
        if SEEN in self.data and self.data[SEEN] != version_of(self.instance):
            self.is_stale = True
            raise ValidationError(CHANGED_SINCE, code="changed_since")
        return cleaned
