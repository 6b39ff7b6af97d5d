"""A stopping web process closes its connections in order, so that a reload fails no request.

Granian closes kept connections at once, also those whose next request is on its way.
"""

import multiprocessing
import signal
import threading
from importlib import import_module
from types import FrameType
from typing import Any

from fulfillment.core.http.stopping import stopping

# Connections used at least this often get a response that announces the close.
DRAIN_SECONDS = 3.0


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
    set_handlers = signals.set_sync_signals

    def set_sync_signals() -> Any:
        stop = set_handlers()
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
