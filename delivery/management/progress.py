import time

from django.core.management.base import OutputWrapper

WIDTH = 30
EVERY_SECONDS = 0.25


class TerminalProgress:
    """One rewritten line on a terminal, else a line every 10 %."""

    def __init__(self, stream: OutputWrapper) -> None:
        self.stream = stream
        self.rewrites = bool(stream.isatty())
        self.started = time.monotonic()
        self.next_at = 0.0
        self.next_tenth = 1

    def show(self, phase: str, share: float) -> None:
        if self.rewrites:
            self._rewrite(phase, share)
        elif share * 10 >= self.next_tenth:
            self.next_tenth = int(share * 10) + 1
            self.stream.write(f"{int(share * 10) * 10:3d} % {phase}")

    def close(self) -> None:
        if self.rewrites:
            self.stream.write("\r\033[K", ending="")

    def _rewrite(self, phase: str, share: float) -> None:
        now = time.monotonic()
        if now < self.next_at and share < 1:
            return
        self.next_at = now + EVERY_SECONDS
        filled = int(share * WIDTH)
        left = (now - self.started) * (1 - share) / share if share > 0 else 0
        bar = "#" * filled + "." * (WIDTH - filled)
        self.stream.write(f"\r[{bar}] {share:4.0%} {phase}, {left:.0f} s left \033[K", ending="")
        self.stream.flush()
