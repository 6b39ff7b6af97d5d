"""Rows and all rows that point to them, by the foreign keys of the models."""

from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from typing import Any

from django.apps import apps
from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.db import models
from psycopg import Connection, sql

from fulfillment.core.errors import Unprocessable
from fulfillment.core.plugins import offered_values

Model = type[models.Model]


@dataclass(frozen=True, slots=True)
class Root:
    """A row to start from, as an operator names it: "app.Model field=value"."""

    model: Model
    column: str
    value: Any

    def __str__(self) -> str:
        return f"{self.model._meta.label} {self.column}={self.value}"


@dataclass(slots=True)
class Selection:
    """The rows of a table, by their places, in the temporary table `rows`."""

    model: Model
    rows: sql.Identifier
    count: int = 0

    @property
    def table(self) -> sql.Identifier:
        return sql.Identifier(self.model._meta.db_table)


def parse_root(label: str, condition: str) -> Root:
    """Raises Unprocessable for an unknown model or field, or a value that the field cannot have."""
    name, _, text = condition.partition("=")
    try:
        model = apps.get_model(label)
        field = model._meta.get_field(name)
        if not isinstance(field, models.Field) or not field.concrete:
            raise FieldDoesNotExist
        return Root(model, field.column or name, field.to_python(text))
    except (LookupError, ValueError, FieldDoesNotExist, ValidationError) as error:
        raise Unprocessable(
            f"{label} {condition} names no record; write a model and one of its fields, such as "
            "app.Model id=7.",
            code="record_unknown",
        ) from error


def parents(model: Model) -> list[models.ForeignKey[Any, Any]]:
    """The foreign keys with which a row depends on others. Those that a deletion sets null, and those of the audit
    trail, which stays, are none."""
    return [
        column
        for column in model._meta.local_concrete_fields
        if isinstance(column, models.ForeignKey)
        and getattr(column, "db_constraint", True)
        and column.remote_field.on_delete is not models.SET_NULL
    ]


def ordered_models() -> list[Model]:
    """Every model with a table, after those its rows depend on; without what apps render again."""
    again = {label for labels in offered_values("operations", "RENDERED_AGAIN") for label in labels}
    models_with_table = [
        candidate
        for candidate in apps.get_models(include_auto_created=True)
        if candidate._meta.managed and not candidate._meta.proxy and candidate._meta.label not in again
    ]
    graph = {model: [key.remote_field.model for key in parents(model)] for model in models_with_table}
    return list(
        TopologicalSorter(
            {node: [p for p in of if p is not node] for node, of in graph.items()}
        ).static_order()
    )


@dataclass(slots=True)
class Graph:
    """Selects the rows in a database where nothing else writes."""

    connection: Connection
    roots: list[Root]
    selections: dict[Model, Selection] = field(default_factory=dict)

    def select(self) -> list[Selection]:
        for number, model in enumerate(ordered_models()):
            self._select_rows(model, Selection(model, sql.Identifier(f"selected_{number}")))
        return list(self.selections.values())

    def _select_rows(self, model: Model, selection: Selection) -> None:
        conditions = [
            sql.SQL("SELECT ctid AS place FROM {} WHERE {} = {}").format(
                selection.table, sql.Identifier(root.column), sql.Literal(root.value)
            )
            for root in self.roots
            if root.model is model
        ]
        conditions += [
            _select_children(selection, key, self.selections[key.remote_field.model])
            for key in parents(model)
            if key.remote_field.model in self.selections
        ]
        if not conditions:
            return
        union = sql.SQL(" UNION ").join(conditions)
        cursor = self.connection.execute(
            sql.SQL("CREATE TEMPORARY TABLE {} AS {}").format(selection.rows, union)
        )
        selection.count = cursor.rowcount
        for key in parents(model):
            while key.remote_field.model is model and selection.count:
                if not (new_rows := self._add_children(selection, key)):
                    break
                selection.count += new_rows
        if selection.count:
            self.connection.execute(sql.SQL("ANALYZE {}").format(selection.rows))
            self.selections[model] = selection

    def _add_children(self, selection: Selection, key: models.ForeignKey[Any, Any]) -> int:
        """Adds the children of rows of the same table."""
        statement = sql.SQL("INSERT INTO {rows} ({children} EXCEPT SELECT place FROM {rows})")
        return self.connection.execute(
            statement.format(rows=selection.rows, children=_select_children(selection, key, selection))
        ).rowcount


def _select_children(
    selection: Selection, key: models.ForeignKey[Any, Any], parent: Selection
) -> sql.Composed:
    return sql.SQL(
        "SELECT child.ctid AS place FROM {child} child JOIN {parent} parent ON child.{column} = parent.{target}"
        " JOIN {rows} selected ON selected.place = parent.ctid"
    ).format(
        child=selection.table,
        parent=parent.table,
        column=sql.Identifier(str(key.column)),
        target=sql.Identifier(str(key.target_field.column)),
        rows=parent.rows,
    )
