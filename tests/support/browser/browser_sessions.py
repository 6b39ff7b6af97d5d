"""The database and sessions for tests that drive a browser."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connection
from django.test import Client

from accounts.models import User
from tests.support.scenario import sign_in


def in_database(act: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Reads or writes in a thread of its own: Django refuses the database to the thread of the browser."""

    def work() -> Any:
        try:
            return act(*args, **kwargs)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


def cookies_of(username: str, url: str) -> list[dict[str, str]]:
    """Of a session as after a sign-in."""
    browser = sign_in(Client(), User.objects.get(username=username), "sign-in")
    return [{"name": name, "value": cookie.value, "url": url} for name, cookie in browser.cookies.items()]
