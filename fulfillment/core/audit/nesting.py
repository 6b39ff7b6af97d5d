"""A separate audit context for a request within a request."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection
from pghistory import runtime


@contextmanager
def separate_context() -> Iterator[None]:
    """Suspends the open context, because a stored context never changes and cannot be shared."""
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
