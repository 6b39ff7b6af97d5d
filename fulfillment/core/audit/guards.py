"""Makes the audit tables append-only in the database, after each migration, and grants roles their use.

Rows can be added. The only change let through is that personal words become `[erased]`; nothing is deleted but the
history of test orders, and no table emptied. The tables of pghistory carry its own trigger as well.
"""

from typing import Any

import pghistory.models
from django.apps import apps
from django.db import connection
from django.db.models import Model
from psycopg import sql

from fulfillment.core.plugins import offered_values

# As `ERASABLE` of apps, for tables of libraries: columns that may be erased; with `+` that may gain members
# of a JSON object, with `*` that may change.
ERASABLE = {
    "pghistory.Context": ("metadata+", "updated_at*"),
    "admin.LogEntry": ("object_repr", "change_message"),
}
# For sessions that empty whole databases, such as tests.
ALLOW_TRUNCATE = "fulfillment.may_empty"
GUARD = f"""
CREATE OR REPLACE FUNCTION fulfillment_guard_trail() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' AND current_setting('{ALLOW_TRUNCATE}', true) = 'on' THEN
        RETURN NULL;
    END IF;
{{prunable}}    IF TG_OP = 'UPDATE' AND NOT EXISTS (
        SELECT FROM jsonb_each(to_jsonb(OLD)) AS old_one JOIN jsonb_each(to_jsonb(NEW)) AS new_one USING (key)
        WHERE old_one.value IS DISTINCT FROM new_one.value AND NOT (
            key = ANY (TG_ARGV) AND new_one.value = '"[erased]"'
            OR key || '+' = ANY (TG_ARGV) AND new_one.value @> old_one.value
            OR key || '*' = ANY (TG_ARGV)
        )
    ) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'append_only: % of % is not allowed', TG_OP, TG_TABLE_NAME;
END $$
"""  # noqa: S608 - a constant
PRUNABLE_ROWS = """\
    IF TG_OP = 'DELETE' AND TG_TABLE_NAME = '{table}' THEN
        IF {condition} THEN
            RETURN OLD;
        END IF;
    END IF;
"""
# pgtrigger's own function lets every session disable any trigger, and so work without a trace. This one allows only
# pgtrigger's append-only guard to be disabled, for erasures; our guard still applies. Its migrations restore its own.
SHOULD_IGNORE = """
CREATE OR REPLACE FUNCTION _pgtrigger_should_ignore(trigger_name name) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT starts_with(trigger_name::text, 'pgtrigger_append_only_')
        AND trigger_name::text = ANY (coalesce(nullif(current_setting('pgtrigger.ignore', true), ''), '{}')::text[])
$$
"""
TRIGGERS = (
    ("guard_rows", "BEFORE UPDATE OR DELETE ON {table} FOR EACH ROW"),
    ("guard_table", "BEFORE TRUNCATE ON {table} FOR EACH STATEMENT"),
)
TRIGGER_ARGUMENTS = (
    "SELECT encode(tgargs, 'escape') FROM pg_trigger WHERE tgrelid = %s::regclass AND tgname = %s"
)


def erasable_columns() -> dict[str, tuple[str, ...]]:
    """The columns, by the label of the model, that may change after a row was written."""
    return {
        name: columns
        for by_model in (*offered_values("operations", "ERASABLE"), ERASABLE)
        for name, columns in by_model.items()
    }


def prune_conditions() -> dict[str, str]:
    """The condition in SQL, by the label of the model, under which a row, `OLD`, may be deleted."""
    return {
        name: condition
        for by_model in offered_values("operations", "PRUNABLE")
        for name, condition in by_model.items()
    }


def guard_function() -> str:
    conditions = "".join(
        PRUNABLE_ROWS.format(table=apps.get_model(name)._meta.db_table, condition=condition)
        for name, condition in prune_conditions().items()
    )
    return GUARD.format(prunable=conditions)


def trail_models() -> list[type[Model]]:
    """All event tables of pghistory, and the other audit tables."""
    events = [model for model in apps.get_models() if issubclass(model, pghistory.models.Event)]
    models_of_columns = [apps.get_model(label) for label in erasable_columns()]
    return list(dict.fromkeys([*events, *models_of_columns]))


def install_append_only_triggers(**kwargs: Any) -> None:
    """Creates missing triggers. Guarded tables are not touched, so that nothing waits for a lock."""
    with connection.cursor() as cursor:
        present = set(connection.introspection.table_names(cursor))
        cursor.execute(guard_function())
        cursor.execute(SHOULD_IGNORE)
        for model in trail_models():
            if model._meta.db_table in present:
                _create_triggers(cursor, model)


def grant_new_tables(role: str) -> None:
    """Run before migrations: the running release uses the new tables' triggers before `grant_use` is called."""
    with connection.cursor() as cursor:
        for statement in (
            "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT ON TABLES TO {role}",
            "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO {role}",
        ):
            cursor.execute(sql.SQL(statement).format(role=sql.Identifier(role)))


def grant_use(role: str) -> None:
    """Grants a role the use of all tables; of the audit trail only additions and the erasure of personal data."""
    with connection.cursor() as cursor:
        for statement in (
            "GRANT USAGE ON SCHEMA public TO {role}",
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}",
            "GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA public TO {role}",
            "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO {role}",
            "REVOKE INSERT, UPDATE, DELETE ON django_migrations FROM {role}",
        ):
            cursor.execute(sql.SQL(statement).format(role=sql.Identifier(role)))
        for model in trail_models():
            _grant_trail(cursor, role, model)


def _grant_trail(cursor: Any, role: str, model: type[Model]) -> None:
    names = {"role": sql.Identifier(role), "table": sql.Identifier(model._meta.db_table)}
    cursor.execute(sql.SQL("REVOKE UPDATE, DELETE, TRUNCATE ON {table} FROM {role}").format(**names))
    if columns := [name.rstrip("+*") for name in _list_changeable(model)]:
        listed = sql.SQL(", ").join(map(sql.Identifier, columns))
        statement = sql.SQL("GRANT UPDATE ({columns}) ON {table} TO {role}")
        cursor.execute(statement.format(columns=listed, **names))
    if model._meta.label in prune_conditions():
        cursor.execute(sql.SQL("GRANT DELETE ON {table} TO {role}").format(**names))


def _create_triggers(cursor: Any, model: type[Model]) -> None:
    table = model._meta.db_table
    arguments = _list_changeable(model)
    for name, when in TRIGGERS:
        cursor.execute(TRIGGER_ARGUMENTS, [table, name])
        row = cursor.fetchone()
        if row and row[0] == "".join(f"{argument}\\000" for argument in arguments):
            continue
        listed = sql.SQL(", ").join(map(sql.Literal, arguments))
        statement = (
            "CREATE OR REPLACE TRIGGER {name} " + when + " EXECUTE FUNCTION fulfillment_guard_trail({listed})"
        )
        cursor.execute(
            sql.SQL(statement).format(name=sql.Identifier(name), table=sql.Identifier(table), listed=listed)
        )


def _list_changeable(model: type[Model]) -> tuple[str, ...]:
    return erasable_columns().get(model._meta.label, ())
