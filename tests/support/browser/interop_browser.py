"""A person with a browser: signed in, reading the consent page and pressing its button."""

from html.parser import HTMLParser
from urllib.parse import urljoin

import requests
from django.conf import settings
from django.test import Client

from accounts.models import User
from tests.support.scenario import sign_in


class Form(HTMLParser):
    """The hidden fields of the form that leads to the authorization endpoint."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.fields: dict[str, str] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag == "input" and attributes.get("type") == "hidden" and attributes.get("name"):
            self.fields[attributes["name"] or ""] = attributes.get("value") or ""


class Browser:
    def __init__(self, user: User) -> None:
        client = Client()
        sign_in(client, user)
        self.session = requests.Session()
        self.session.cookies.set(
            settings.SESSION_COOKIE_NAME, client.cookies[settings.SESSION_COOKIE_NAME].value
        )

    def consent(self, address: str, *, allow: bool = True) -> str:
        """Opens the authorization request, answers it, and returns where the browser is sent."""
        page = self.session.get(address, allow_redirects=False)
        assert page.status_code == 200, page.text
        fields = Form(page.text).fields
        response = self.session.post(
            urljoin(page.url, "/oauth/authorize"),
            {**fields, **({"allow": "true"} if allow else {})},
            allow_redirects=False,
        )
        assert response.status_code == 303, response.text
        return response.headers["Location"]
