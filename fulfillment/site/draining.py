"""A stopping web process closes its connections in order, so that a reload fails no request.

Granian closes kept connections at once, also those whose next request is on its way.
"""

import multiprocessing
import signal
import threading
from collections.abc import Callable, Iterable
from importlib import import_module
from types import FrameType
from typing import Any

from fulfillment.core.http.stopping import stopping

# Connections used at least this often get a response that announces the close.
DRAIN_SECONDS = 3.0

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def closing_connections(application: Application) -> Application:
    """WSGI middleware: while the process drains, each response closes its connection (RFC 9112, 9.6)."""

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if not stopping.is_set():
            return application(environ, start_response)

        def start(status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
            return start_response(status, [*headers, ("Connection", "close")], *more)

        return application(environ, start)

    return answer


def end_while_loading() -> None:
    """Ends a worker at once if it receives the stop signal before it serves.

    Until Granian installs its signal handlers, a worker inherits the handler of its parent, which would ignore the
    signal: the worker would keep serving and be killed with its requests.
    """
    if multiprocessing.parent_process() is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def drain_before_stop() -> None:
    """Called while Granian loads the application: it installs its signal handlers after that."""
    signals: Any = import_module("granian._signals")
    known = signals.set_sync_signals

    def set_sync_signals() -> Any:
        stop = known()
        signal.signal(signal.SIGTERM, lambda number, frame: _drain(stop, number, frame))
        return stop

    signals.set_sync_signals = set_sync_signals


def _drain(stop: Any, number: int, frame: FrameType | None) -> None:
    if stopping.is_set():
        stop.set()
        return
    stopping.set()
    timer = threading.Timer(DRAIN_SECONDS, stop.set)
    timer.daemon = True
    timer.start()
