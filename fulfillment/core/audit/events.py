"""The base model of all event tables of pghistory."""

from typing import Any

import pghistory.models

WORDS = {"insert": "Created", "update": "Changed", "delete": "Deleted"}


# pghistory derives model and table names from the name of this class.
class Event(pghistory.models.Event):
    """Labelled "Role changed"; its page shows when and by whom."""

    pgh_tracked_model: Any

    class Meta:
        abstract = True

    def __str__(self) -> str:
        done = WORDS.get(self.pgh_label, self.pgh_label).lower()
        name = self.pgh_tracked_model._meta.verbose_name
        return f"{name} {done}".capitalize()


def event_model(tracked: Any) -> Any:
    """The model of the events of a tracked model, which pghistory adds to it."""
    return tracked.pgh_event_model
