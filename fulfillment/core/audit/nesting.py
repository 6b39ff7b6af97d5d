"""A request within a request keeps an audit context of its own."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection
from pghistory import runtime


@contextmanager
def separate_context() -> Iterator[None]:
    """Sets the open context aside: a context that is written down never changes, so another one cannot join it."""
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
