"""The rows of a batch as pages show them: with their proofs, those with problems first, one page after the other."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django.conf import settings

from fulfillment.core.text import MAX_INTEGER, parse_number
from stores.batches.models import Batch, BatchRow, RowState
from stores.batches.overview import PROBLEMS, BatchPage
from stores.batches.row_contents import given_key
from stores.batches.selectors.rows import WITH_PROBLEMS, page_of_rows, proofs_of, rows_of
from stores.orders.models import OrderStatus
from stores.proofs.links import proof_urls

ROWS_A_PAGE = 50
WORDS_LENGTH = 100
ROW_BADGES = {
    RowState.READY: "badge-good",
    RowState.WARNING: "badge-warning",
    RowState.ERROR: "badge-bad",
    RowState.ORDERED: "badge-good",
    RowState.FAILED: "badge-bad",
}


def listed_rows(page: BatchPage, query: Mapping[str, Any]) -> dict[str, Any]:
    """A page of rows, of those with problems first, or as `query` says."""
    batch, state = page.batch, query.get("state", PROBLEMS)
    if state == PROBLEMS and not page.counts.with_problems:
        state = "all"
    after, words = after_in(query), query.get("words", "").strip()[:WORDS_LENGTH]
    matches = rows_of(batch, states=states_in(state), after=after, words=words)
    rows, more = page_of_rows(matches.select_related("order"), take=ROWS_A_PAGE)
    return {
        "chosen": state,
        "words": words,
        "columns": columns_of(batch),
        "rows": row_views(batch, rows, page.unmapped),
        "after": after,
        "next_after": rows[-1].number if more else None,
    }


def columns_of(batch: Batch) -> list[dict[str, Any]]:
    """The columns that are used, in the order of the file, with the field that each is."""
    targets = {column: target for target, column in batch.mapping.items()}
    return [
        {"place": index, "name": column, "target": targets[column]}
        for index, column in enumerate(batch.columns)
        if column in targets
    ]


def row_views(batch: Batch, rows: Sequence[BatchRow], unmapped: Collection[str] = ()) -> list[dict[str, Any]]:
    """The rows for templates, without the problems of `unmapped` fields, which the page names once."""
    proofs, columns = proofs_of(rows), columns_of(batch)
    views = []
    for row in rows:
        faulty = {problem["Column"]: problem["Severity"] for problem in row.problems}
        stored = proofs.get(row.proof)
        pages = proof_urls(stored, batch.product.external_id).pages if stored else []
        views.append(
            {
                "row": row,
                "problems": [problem for problem in row.problems if problem["Field"] not in unmapped],
                "name": row.name or given_key(row.key, row.values, batch.mapping),
                "state": RowState(row.state).label,
                "badge": ROW_BADGES.get(RowState(row.state), ""),
                "picture": pages[0].removeprefix(settings.PUBLIC_URL) if pages else "",
                "cells": [
                    {
                        **column,
                        "value": row.values.get(column["name"], ""),
                        "fault": faulty.get(column["name"], ""),
                    }
                    for column in columns
                ],
                "order_words": OrderStatus(row.order.status).words if row.order else "",
            }
        )
    return views


def states_in(state: str) -> list[str]:
    if state == PROBLEMS:
        return list(WITH_PROBLEMS)
    return [state] if state in RowState.values else []


def after_in(query: Mapping[str, Any]) -> int:
    """The number of the row before the page."""
    return parse_number(query.get("after", ""), most=MAX_INTEGER) or 0
