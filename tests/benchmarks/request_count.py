"""A plugin of pytest that says how many requests the application was asked in its process."""

import sys
from typing import Any

from django.core.signals import request_started

_count = 0


def pytest_configure() -> None:
    request_started.connect(_add, weak=False)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    terminalreporter.write_line(f"{_count} requests in this process")
    explanations = sys.modules.get("tests.support.schemathesis_explanations")
    if explanations is not None:
        _explain(terminalreporter, explanations)


def _explain(terminalreporter: Any, explanations: Any) -> None:
    for reason, times in explanations.counted.most_common():
        terminalreporter.write_line(f"explained {times} times: {reason}")
    steps, done = (
        explanations.walked.total(),
        sum(n for (_, status), n in explanations.walked.items() if status < 300),
    )
    reached = {operation for (operation, status) in explanations.walked if status < 300}
    if steps:
        terminalreporter.write_line(
            f"{steps} steps along links, {done} of them done at {len(reached)} operations"
        )


def _add(**signal: Any) -> None:
    global _count
    _count += 1
