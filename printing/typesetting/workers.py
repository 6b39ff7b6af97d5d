"""The rendering processes of this process: starts them, lends them out and ends them."""

import atexit
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from printing.bounded import RendererKilled, busy, killed, refuse_killed
from printing.typesetting.errors import RenderingFailed, RenderingTimedOut
from printing.typesetting.ipc import receive_message, send_message

RENDERINGS_OF_A_WORKER = 20_000
PEAK_KIB = 600_000
# The largest page a proof may have takes 64 MB for each of its layers.
MEMORY_BYTES = 2 << 30
# Between the end of its socket and its own, at most: without its return code the template would be blamed.
ENDING_SECONDS = 5.0
# With one core two renderers are not faster than one.
LIMIT_FOR_TWO = 3

_PROJECT = Path(__file__).parents[2]


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """Blocks all signals for a process started here, until it has set up its own handling."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Worker:
    """One rendering process and this process's end of its socket."""

    def __init__(self, slot: int) -> None:
        self.slot = slot
        self.renderings = 0
        self.needs_replacement = False
        self.channel, far_end = socket.socketpair()
        with ExitStack() as stack, far_end, _signals_blocked():
            stack.callback(self.channel.close)
            self.process = subprocess.Popen(  # noqa: S603 - a fixed command, no caller's text in it
                [
                    *(sys.executable, "-m", "printing.typesetting.worker"),
                    *(str(far_end.fileno()), str(MEMORY_BYTES)),
                ],
                cwd=_PROJECT,
                env={"PATH": os.defpath, "RAYON_NUM_THREADS": "1", "PYTHONPATH": str(_PROJECT)},
                pass_fds=[far_end.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            stack.pop_all()

    def send(self, request: Mapping[str, Any], jobs: Sequence[bytes], deadline: float) -> None:
        """Each request has one response, to be received before the next request is sent."""
        with self._catch_errors():
            self.channel.settimeout(max(deadline - time.monotonic(), 0.001))
            send_message(self.channel, request, jobs)

    def receive(self, deadline: float) -> tuple[dict[str, Any], list[bytes]]:
        with self._catch_errors():
            header, parts = receive_message(self.channel, deadline)
        self.renderings += 1
        self.needs_replacement = self.renderings >= RENDERINGS_OF_A_WORKER or header["peak"] > PEAK_KIB
        return header, parts

    def render(
        self, request: Mapping[str, Any], jobs: Sequence[bytes], deadline: float
    ) -> tuple[dict[str, Any], list[bytes]]:
        self.send(request, jobs, deadline)
        return self.receive(deadline)

    @contextmanager
    def _catch_errors(self) -> Iterator[None]:
        try:
            yield
        except TimeoutError as error:
            raise RenderingTimedOut("Rendering took too long and was stopped.") from error
        except (EOFError, ConnectionError) as error:
            self.refuse_killed()
            raise RenderingFailed("The rendering process ended: its memory or its stack ran out.") from error

    def refuse_killed(self) -> None:
        """Raises RendererKilled if it ended by a signal from outside; its own limit of memory aborts it."""
        with suppress(subprocess.TimeoutExpired):
            refuse_killed(self.process.wait(ENDING_SECONDS))

    def close(self) -> None:
        self.process.kill()
        self.channel.close()
        self.process.wait()


class Workers:
    """At most `limit` rendering processes, started when first needed; threads wait for a free one."""

    def __init__(self, limit: int | None = None) -> None:
        # One more than the cores: the last one starts only when more callers than cores render at the same time.
        self.limit = limit or len(os.sched_getaffinity(0)) + 1
        self._owner = os.getpid()
        self._idle: list[Worker] = []
        self._slots = list(range(self.limit))
        self._free = threading.Condition()

    @contextmanager
    def lend(self, deadline: float) -> Iterator[Worker]:
        """Waits for a worker; after an error it is killed. A thread that holds one may not wait for another."""
        with self._given_back(self._wait_for_worker(deadline)) as worker:
            yield worker

    @contextmanager
    def lend_second(self) -> Iterator[Worker | None]:
        """A second worker for the only caller that renders; else, or where none can be started, None."""
        with self._free:
            is_alone = len(self._idle) + len(self._slots) == self.limit - 1
        worker = None
        if is_alone and self.limit >= LIMIT_FOR_TWO:
            with suppress(RendererKilled):
                worker = self._free_worker()
        if worker is None:
            yield None
        else:
            with self._given_back(worker):
                yield worker

    @contextmanager
    def _given_back(self, worker: Worker) -> Iterator[Worker]:
        is_healthy = False
        try:
            yield worker
            is_healthy = True
        finally:
            self._release_worker(worker, is_healthy=is_healthy)

    def close(self) -> None:
        with self._free:
            while self._idle:
                worker = self._idle.pop()
                worker.close()
                self._slots.append(worker.slot)

    def _wait_for_worker(self, deadline: float) -> Worker:
        while (worker := self._free_worker()) is None:
            with self._free:
                if not self._idle and not self._slots and not self._free.wait(deadline - time.monotonic()):
                    raise busy()
        return worker

    def _free_worker(self) -> Worker | None:
        with self._free:
            if self._owner != os.getpid():
                # After a fork this process must neither use nor end its parent's processes and sockets.
                self._owner, self._idle, self._slots = os.getpid(), [], list(range(self.limit))
            if (worker := self._idle_worker()) is not None:
                return worker
            if not self._slots:
                return None
            slot = self._slots.pop()
        try:
            return Worker(slot)
        except OSError as error:
            with self._free:
                self._slots.append(slot)
                self._free.notify()
            raise killed(f"could not be started ({error.strerror})") from error

    def _idle_worker(self) -> Worker | None:
        """The one used last, which has read the most."""
        for worker in [candidate for candidate in self._idle if candidate.process.poll() is not None]:
            self._idle.remove(worker)
            worker.close()
            self._slots.append(worker.slot)
        return self._idle.pop() if self._idle else None

    def _release_worker(self, worker: Worker, *, is_healthy: bool) -> None:
        is_kept = is_healthy and not worker.needs_replacement
        if not is_kept:
            worker.close()
        with self._free:
            if is_kept:
                self._idle.append(worker)
            else:
                self._slots.append(worker.slot)
            self._free.notify()


shared_workers = Workers()
atexit.register(shared_workers.close)
