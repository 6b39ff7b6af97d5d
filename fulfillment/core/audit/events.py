"""The base of every row of the audit trail that pghistory writes."""

from typing import Any

import pghistory.models

WORDS = {"insert": "Created", "update": "Changed", "delete": "Deleted"}


# pghistory names the models, and so the tables, by the name of this class.
class Event(pghistory.models.Event):
    """Called "Role changed" where it is a record like others; its page tells when and by whom."""

    pgh_tracked_model: Any

    class Meta:
        abstract = True

    def __str__(self) -> str:
        done = WORDS.get(self.pgh_label, self.pgh_label).lower()
        name = self.pgh_tracked_model._meta.verbose_name  # noqa: SLF001 - Django's documented way to it
        return f"{name} {done}".capitalize()
