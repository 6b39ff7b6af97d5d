"""A plugin of pytest that says how many requests the application was asked in its process."""

from typing import Any

from django.core.signals import request_started

_count = 0


def pytest_configure() -> None:
    request_started.connect(_add, weak=False)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    terminalreporter.write_line(f"{_count} requests in this process")


def _add(**signal: Any) -> None:
    global _count
    _count += 1
