"""Indexes of large tables, made beside the running service."""

from typing import Any

from django.contrib.postgres.operations import AddIndexConcurrently

# Those of the service would end it: it reads the whole table, and waits for whoever writes there.
WITHOUT_LIMITS = "SET statement_timeout = 0; SET lock_timeout = 0"
USUAL_LIMITS = "RESET statement_timeout; RESET lock_timeout"


class BuildIndexConcurrently(AddIndexConcurrently):
    """Can be repeated: what an interrupted build left under the name, mostly an invalid index, makes way."""

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        if schema_editor.collect_sql:
            super().database_forwards(app_label, schema_editor, from_state, to_state)
            return
        self._ensure_not_in_transaction(schema_editor)
        model = to_state.apps.get_model(app_label, self.model_name)
        schema_editor.execute(WITHOUT_LIMITS)
        try:
            # Does nothing where there is no such index.
            schema_editor.remove_index(model, self.index, concurrently=True)
            super().database_forwards(app_label, schema_editor, from_state, to_state)
        finally:
            schema_editor.execute(USUAL_LIMITS)
