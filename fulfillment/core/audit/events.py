"""The base model of all event tables of pghistory, and a separate context for a request within a request."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pghistory.models
from django.db import connection
from django.utils.text import capfirst
from django.utils.translation import gettext, gettext_noop
from pghistory import runtime

WORDS = {
    "insert": gettext_noop("Created"),
    "update": gettext_noop("Changed"),
    "delete": gettext_noop("Deleted"),
}


# pghistory derives model and table names from the name of this class.
class Event(pghistory.models.Event):
    """Labelled "Role changed"; its page shows when and by whom."""

    pgh_tracked_model: Any

    class Meta:
        abstract = True

    def __str__(self) -> str:
        action = gettext(WORDS.get(self.pgh_label, self.pgh_label)).lower()
        return capfirst(f"{self.pgh_tracked_model._meta.verbose_name} {action}")


def event_model(tracked: Any) -> Any:
    """The model of the events of a tracked model, which pghistory adds to it."""
    return tracked.pgh_event_model


@contextmanager
def separate_context() -> Iterator[None]:
    """Suspends the open context, because a stored context never changes and cannot be shared."""
    tracker = runtime._tracker  # noqa: SLF001 - pghistory only ever joins the open context
    hook = runtime._inject_history_context  # noqa: SLF001
    outer, wrappers = vars(tracker).pop("value", None), list(connection.execute_wrappers)
    connection.execute_wrappers[:] = [wrapper for wrapper in wrappers if wrapper is not hook]
    try:
        yield
    finally:
        connection.execute_wrappers[:] = wrappers
        if outer is not None:
            tracker.value = outer
