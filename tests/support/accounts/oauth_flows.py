"""The steps of a sign-in as a client and a browser take them, for tests."""

import base64
import hashlib
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from django.http import HttpResponse
from django.test import Client
from oauth2_provider.models import AccessToken

from accounts.models import User
from applications.registration.models import Application
from tests.support.scenario import sign_in

VERIFIER = "v" * 43
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")


def basic(client_id: str, secret: str) -> str:
    return "Basic " + base64.b64encode(f"{client_id}:{secret}".encode()).decode()


def browser_of(user: User | None = None) -> Client:
    browser = Client(raise_request_exception=False)
    if user is not None:
        sign_in(browser, user)
    return browser


def answer_of(response: Any) -> dict[str, str]:
    """What an authorization response says to the application."""
    parts = urlsplit(response["Location"])
    return dict(parse_qsl(parts.query) + parse_qsl(parts.fragment))


def refused(response: HttpResponse, error: str = "invalid_grant") -> bool:
    return response.status_code == 400 and response.json()["error"] == error


def is_alive(access_token: str) -> bool:
    checksum = hashlib.sha256(access_token.encode()).hexdigest()
    return AccessToken.objects.filter(token_checksum=checksum).exists()


@dataclass
class Party:
    """An application as its developer drives it."""

    application: Application
    secret: str | None = None
    client: Client = field(default_factory=lambda: Client(raise_request_exception=False))

    def __post_init__(self) -> None:
        self.secret = self.secret or getattr(self.application, "known_key", None)

    def request(self, **changes: str | None) -> dict[str, str]:
        requested = {
            "client_id": self.application.client_id,
            "response_type": "code",
            "redirect_uri": self.application.reply_urls[0],
            "state": "a state",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            **changes,
        }
        return {name: value for name, value in requested.items() if value is not None}

    def ask(self, browser: Client, **changes: str | None) -> Any:
        return browser.get("/oauth/authorize?" + urlencode(self.request(**changes)))

    def consent(self, browser: Client, allow: str = "true", **changes: str | None) -> Any:
        return browser.post("/oauth/authorize", {**self.request(**changes), "allow": allow})

    def consent_of(self, user: User, **changes: str | None) -> dict[str, str]:
        return answer_of(self.consent(browser_of(user), **changes))

    def code_for(self, user: User, **changes: str | None) -> str:
        return self.consent_of(user, **changes)["code"]

    def post(self, path: str, form: dict[str, Any], client: Client | None = None) -> Any:
        headers = {}
        if self.secret:
            headers["Authorization"] = basic(self.application.client_id, self.secret)
        else:
            form = {"client_id": self.application.client_id, **form}
        form = {name: value for name, value in form.items() if value is not None}
        return (client or self.client).post(
            path,
            urlencode(form, doseq=True),
            content_type="application/x-www-form-urlencoded",
            headers=headers,
        )

    def token(self, client: Client | None = None, **form: Any) -> Any:
        return self.post("/oauth/token", form, client)

    def redeem(self, code: str, client: Client | None = None, /, **changes: Any) -> Any:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.application.reply_urls[0],
            "code_verifier": VERIFIER,
            **changes,
        }
        return self.token(client, **form)

    def refresh(self, refresh_token: str, client: Client | None = None, /, **changes: Any) -> Any:
        return self.token(client, grant_type="refresh_token", refresh_token=refresh_token, **changes)

    def revoke(self, token: str, **changes: Any) -> Any:
        return self.post("/oauth/revoke", {"token": token, **changes})

    def sign_in(self, user: User, **changes: str | None) -> dict[str, Any]:
        response = self.redeem(self.code_for(user, **changes))
        assert response.status_code == 200, response.content
        return response.json()
