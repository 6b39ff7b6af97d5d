"""Operations of migrations without a transaction, which leave their work behind when they are interrupted.

Each first removes what an earlier run left, so that the migration can run again.
"""

from typing import Any

from django.contrib.postgres import operations
from django.db.migrations.state import ProjectState


class AddIndexConcurrently(operations.AddIndexConcurrently):
    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        model = to_state.apps.get_model(app_label, self.model_name)
        # IF EXISTS, as Django writes it.
        schema_editor.remove_index(model, self.index, concurrently=True)
        super().database_forwards(app_label, schema_editor, from_state, to_state)


class AddConstraintNotValid(operations.AddConstraintNotValid):
    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        table = schema_editor.quote_name(to_state.apps.get_model(app_label, self.model_name)._meta.db_table)
        name = schema_editor.quote_name(self.constraint.name)
        schema_editor.execute(f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {name}")
        super().database_forwards(app_label, schema_editor, from_state, to_state)
