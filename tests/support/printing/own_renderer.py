"""A renderer in this process, in place of printing.typesetting.workers.shared_workers."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from printing.typesetting.worker import Renderer


class OwnRenderer(Renderer):
    slot = 0

    def __init__(self) -> None:
        super().__init__()
        self.hand_overs = 0
        self.sent: tuple[Any, ...] = ()
        self.second: OwnRenderer | None = None

    def render(self, *request: Any) -> tuple[dict[str, Any], list[bytes]]:
        """Without the deadline, which only another process keeps; it is not given for what follows a first job."""
        response = super().render(*request[:2])
        if len(request) > 2:
            self.hand_overs += 1
            self.forget()
        return response

    def send(self, *request: Any) -> None:
        self.sent = request

    def receive(self, _: float) -> tuple[dict[str, Any], list[bytes]]:
        return self.render(*self.sent)

    @contextmanager
    def lend(self, _: float) -> Iterator["OwnRenderer"]:
        yield self

    @contextmanager
    def lend_second(self) -> Iterator["OwnRenderer | None"]:
        yield self.second
