import io

from django.core.management.base import OutputWrapper

from delivery.management.commands.import_eddm import TerminalProgress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_without_a_terminal_is_a_line_every_ten_percent():
    out = io.StringIO()
    progress = TerminalProgress(OutputWrapper(out))

    for step in range(1001):
        progress.show("reading" if step < 600 else "writing", step / 1000)
    progress.close()

    assert out.getvalue().splitlines() == [
        *(f" {tenth}% reading" for tenth in range(10, 60, 10)),
        *(f" {tenth}% writing" for tenth in range(60, 100, 10)),
        "100% writing",
    ]


def test_one_rewritten_line_on_a_terminal():
    out = Terminal()
    progress = TerminalProgress(OutputWrapper(out))

    for step in range(1001):
        progress.show("reading", step / 1000)
    progress.close()

    assert "\n" not in out.getvalue()
    assert out.getvalue().startswith("\r[....")
    assert "] 100% reading, 0 s left" in out.getvalue()
    assert out.getvalue().endswith("\r\033[K")
