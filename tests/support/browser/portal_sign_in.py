"""Signing in and up by the forms of the portal."""

from django.test import Client

from tests.support.scenario import PASSWORD

NEW = {
    "username": "nora",
    "email": "nora@print.example",
    "password": "a long pass phrase",
}


def sign_in(client: Client, username: str, password: str = PASSWORD, **more: str):
    return client.post("/accounts/login/", {"username": username, "password": password, **more})


def without_tokens(page: str) -> str:
    """A page without its CSRF tokens, which differ each time."""
    return "\n".join(line for line in page.splitlines() if "csrfmiddlewaretoken" not in line)
