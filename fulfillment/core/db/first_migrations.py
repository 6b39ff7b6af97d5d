"""Makes many tables in one operation of a migration."""

from collections.abc import Sequence
from typing import Any

from django.db.migrations.operations.base import Operation


class CreateTogether(Operation):
    """Operations that only add models and triggers, run as one.

    Django builds the classes of all related models again for each operation: one operation builds them once.
    """

    reduces_to_sql = True
    reversible = True

    def __init__(self, operations: Sequence[Operation]) -> None:
        self.operations = operations

    def state_forwards(self, app_label: str, state: Any) -> None:
        state.__dict__.pop("apps", None)
        for operation in self.operations:
            operation.state_forwards(app_label, state)

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        for operation in self.operations:
            operation.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """The state with all models serves each step: the one without has none of the models it looks up."""
        for operation in reversed(self.operations):
            operation.database_backwards(app_label, schema_editor, from_state, from_state)

    def describe(self) -> str:
        return f"Create {len(self.operations)} models and triggers together"
