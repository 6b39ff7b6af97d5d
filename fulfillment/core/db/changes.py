"""Records are written only where something in them changes, and no form overwrites a change that it did not show."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Max, Model
from django.utils.translation import gettext_lazy

LOADED_VERSION = "loaded_version"
CHANGED_SINCE = gettext_lazy(
    "Another user changed this record after you opened it; its history shows who and what. Nothing has been saved. Your"
    " entries are below: save again to overwrite the other change."
)


@contextmanager
def saved_if_changed(record: Model) -> Iterator[None]:
    """Saves a stored record that the block changes. Saving an unchanged one would still move its `updated`, and with it
    write an entry in the audit trail that shows no change.
    """
    before = {name: deepcopy(value) for name, value in _list_columns(record)}
    yield
    if any(value != before[name] for name, value in _list_columns(record)):
        record.save()


def differs_from_stored(record: Model) -> bool:
    """Whether saving the record, which is stored, would change a column of it; one that is set while saving is not."""
    stored = type(record)._base_manager.get(pk=record.pk)  # noqa: SLF001 - past managers that hide rows
    return dict(_list_columns(stored)) != dict(_list_columns(record))


def _list_columns(record: Model) -> Iterator[tuple[str, Any]]:
    for field in record._meta.concrete_fields:
        value = getattr(record, field.attname)
        # psycopg reads bytes as a view, which cannot be copied.
        yield field.attname, bytes(value) if isinstance(value, memoryview) else value


def get_version(record: Any) -> str:
    """The version of a record: its newest audit entry; empty if its model has no trail."""
    events = getattr(record, "pgh_event_model", None)
    if events is None or record.pk is None:
        return ""
    newest = events.objects.filter(pgh_obj=record.pk).aggregate(newest=Max("pgh_id"))["newest"]
    return str(newest or "")


class OptimisticLockMixin:
    """Guards forms of one record, `instance`, opened before another change of it.

    Their page sends back `loaded_version`, a request without it passes. A form that also changes records that belong to
    its own, with trails of their own, names them in `versioned_parts`.
    """

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
        version: str | None = self.data.get(LOADED_VERSION) if self.is_bound and not self.is_stale else None
        return self._compute_version() if version is None else version

    def _compute_version(self) -> str:
        parts = (getattr(self.instance, name, None) for name in getattr(self, "versioned_parts", ()))
        return "/".join(filter(None, map(get_version, (self.instance, *parts))))

    def clean(self) -> Any:
        cleaned = super().clean()  # type: ignore[misc]  # of the form mixed in
        if LOADED_VERSION in self.data and self.data[LOADED_VERSION] != self._compute_version():
            self.is_stale = True
            raise ValidationError(CHANGED_SINCE, code="changed_since")
        return cleaned
