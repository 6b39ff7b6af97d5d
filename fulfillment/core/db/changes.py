"""Records are written only where something in them changes."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

from django.db.models import Model


@contextmanager
def saved_if_changed(record: Model) -> Iterator[None]:
    """Saves a stored record that the block changes. Saving an unchanged one would still move its `updated`, and with it
    write an entry in the audit trail that shows no change.
    """
    before = {name: deepcopy(value) for name, value in _columns(record)}
    yield
    if any(value != before[name] for name, value in _columns(record)):
        record.save()


def differs_from_stored(record: Model) -> bool:
    """Whether saving the record, which is stored, would change a column of it; one that is set while saving is not."""
    stored = type(record)._base_manager.get(pk=record.pk)  # noqa: SLF001 - past managers that hide rows
    return dict(_columns(stored)) != dict(_columns(record))


def _columns(record: Model) -> Iterator[tuple[str, Any]]:
    for field in record._meta.concrete_fields:
        value = getattr(record, field.attname)
        # psycopg reads bytes as a view, which cannot be copied.
        yield field.attname, bytes(value) if isinstance(value, memoryview) else value
