"""The first migrations: many tables in one operation, and a database made before 0.1.0, which has others."""

from collections.abc import Sequence
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations import operations as django_operations
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation

from fulfillment.core.plugins import service_apps

IN_TABLE = (django_operations.AddField, django_operations.AddIndex, django_operations.AddConstraint)
BEFORE_FIRST_RELEASE = (
    "This database was made before release 0.1.0 and cannot be migrated: on a development machine remove the folder "
    "var/ (or empty the database of DATABASE_URL) and run `make run` again; in production begin with an empty "
    "database, since nothing was released before 0.1.0."
)


class CreateTogether(Operation):
    """Operations that only add, and change no part twice, run as one.

    Django builds the classes of all related models again for each operation: one operation builds them once. A table
    of the group is created as it is at the end, so fields, indexes and constraints added to it later are in it.
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
        for operation in self._list_steps():
            operation.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """Both states of new tables and their triggers are the one that has them: the other lacks their models."""
        for operation in reversed(self._list_steps()):
            state = to_state if self._changes_older_table(operation) else from_state
            operation.database_backwards(app_label, schema_editor, from_state, state)

    def _list_steps(self) -> list[Operation]:
        return [
            operation
            for operation in self.operations
            if not (isinstance(operation, IN_TABLE) and operation.model_name_lower in self._created)
        ]

    @property
    def _created(self) -> frozenset[str]:
        models = (
            operation for operation in self.operations if isinstance(operation, django_operations.CreateModel)
        )
        return frozenset(model.name_lower for model in models)

    def _changes_older_table(self, operation: Operation) -> bool:
        name = getattr(operation, "model_name", None)
        return name is not None and name.lower() not in self._created

    def describe(self) -> str:
        return f"Create {len(self.operations)} models and triggers together"


def is_older_than_first_release(connection: BaseDatabaseWrapper) -> bool:
    """Whether an app has applied migrations, but not its current first one."""
    loader = MigrationLoader(connection)
    for app in service_apps():
        applied = {name for label, name in loader.applied_migrations if label == app.label}
        names = {name for label, name in loader.disk_migrations if label == app.label}
        if applied and names and min(names) not in applied:
            return True
    return False
