"""Calls as nearly at the same time as threads can."""

import threading
from collections.abc import Callable
from typing import Any

from django.db import connection


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    start, answers = threading.Barrier(len(calls)), [None] * len(calls)

    def run(number: int, call: Callable[[], Any]) -> None:
        try:
            start.wait()
            answers[number] = call()
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers
