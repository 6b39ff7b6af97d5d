"""Progress of reading a long file: a bar on a terminal, otherwise a line for every 10 percent."""

from types import TracebackType

from django.core.management.base import OutputWrapper

WIDTH = 40


class Progress:
    def __init__(self, out: OutputWrapper, size: int | None) -> None:
        self.out = out
        self.size = size or None
        self.is_terminal = out.isatty()
        self.shown = 0

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.is_terminal and self.shown:
            self.out.write("")

    def advance(self, position: int) -> None:
        if self.size is None:
            self._advance_unsized(position)
            return
        percent = min(100, position * 100 // self.size)
        if self.is_terminal and percent != self.shown:
            filled = percent * WIDTH // 100
            self.out.write(f"\r[{'#' * filled:<{WIDTH}}] {percent:3d}%", ending="")
            self.out.flush()
            self.shown = percent
        elif not self.is_terminal and percent // 10 > self.shown // 10:
            self.out.write(f"{percent // 10 * 10}% read")
            self.shown = percent

    def _advance_unsized(self, position: int) -> None:
        megabytes = position // 1_000_000
        if self.is_terminal and megabytes != self.shown:
            self.out.write(f"\r{megabytes:,} MB", ending="")
            self.out.flush()
            self.shown = megabytes
