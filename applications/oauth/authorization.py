"""Reads authorization requests, from the query as well as from the consent form."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import QueryDict
from oauthlib.oauth2.rfc6749 import errors

from accounts.models import User
from accounts.permissions import DEFAULT_SCOPES, Permission
from applications.oauth.redirects import with_issuer, with_parameters
from applications.oauth.server import server
from applications.oauth.tokens import require_known_resources
from applications.registration.models import Application

# Everything else in a request is ignored, among it `response_mode`, `prompt` and `approval_prompt`.
PARAMETERS = (
    "client_id",
    "redirect_uri",
    "response_type",
    "scope",
    "state",
    "code_challenge",
    "code_challenge_method",
)


@dataclass(frozen=True, slots=True)
class AuthorizationRequest:
    """A valid request; `redirect_uri` is registered for the application."""

    parameters: dict[str, str]
    resources: list[str]
    application: Application
    redirect_uri: str
    scopes: list[str]

    @property
    def needs_consent(self) -> bool:
        """False for first-party applications that prove their identity by a key; a token in a URL is given without."""
        proves_identity = (
            self.application.client_type == Application.CLIENT_CONFIDENTIAL
            and self.parameters["response_type"] != "token"
        )
        is_trusted = self.application.is_first_party and Permission.OPERATOR not in self.scopes
        return not (is_trusted and proves_identity)

    @property
    def needs_confirmation(self) -> bool:
        """Whether its token may do more than what every sign-in at an application gives."""
        reaches_more = self.application.is_first_party or not set(self.scopes) <= set(DEFAULT_SCOPES)
        return self.needs_consent and reaches_more

    def grant(self, user: User) -> str:
        """The redirect URL with the code (or token) for the application."""
        headers, _, _ = server().create_authorization_response(
            f"/oauth/authorize?{urlencode(self.parameters)}",
            scopes=self.scopes,
            credentials={"user": user, "client": self.application, "resources": self.resources},
        )
        return with_issuer(headers["Location"])

    def deny(self) -> str:
        error = errors.AccessDeniedError(state=self.parameters.get("state"))
        return error_location(error, self.redirect_uri, self.parameters["response_type"])


def read_authorization_request(data: QueryDict) -> AuthorizationRequest:
    """Raises OAuth2Error; FatalClientError if no error may be sent to the redirect URI."""
    parameters, resources = _parameters(data)
    scopes, details = server().validate_authorization_request(f"/oauth/authorize?{urlencode(parameters)}")
    request: Any = details["request"]
    require_known_resources(resources, request)
    return AuthorizationRequest(
        parameters=parameters,
        resources=resources,
        application=request.client,
        redirect_uri=request.redirect_uri,
        scopes=list(dict.fromkeys(scopes)),
    )


def error_location(error: errors.OAuth2Error, redirect_uri: str, response_type: str | None) -> str:
    return with_parameters(redirect_uri, error.twotuples, fragment=response_type == "token")


def _parameters(data: QueryDict) -> tuple[dict[str, str], list[str]]:
    """A parameter without a value counts as not sent, and none may be sent twice (RFC 6749, section 3.1)."""
    parameters = {}
    for name in PARAMETERS:
        values = [value for value in data.getlist(name) if value]
        if len(values) > 1:
            raise errors.InvalidRequestFatalError(f"{name} was sent more than once.")
        if values:
            parameters[name] = values[0]
    resources = " ".join(data.getlist("resource")).split()
    if any("\0" in value for value in [*parameters.values(), *resources]):
        raise errors.InvalidRequestFatalError("A parameter contains a NUL character.")
    return parameters, resources


class ConsentForm(forms.Form):
    """The authorization request as hidden fields of the consent page; `allow` is the pressed button."""

    allow = forms.BooleanField(required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in (*PARAMETERS, "resource"):
            self.fields[name] = forms.CharField(required=False, strip=False, widget=forms.HiddenInput())

    @classmethod
    def for_request(cls, authorization_request: AuthorizationRequest) -> "ConsentForm":
        return cls(
            initial={
                **authorization_request.parameters,
                "scope": " ".join(authorization_request.scopes),
                "resource": " ".join(authorization_request.resources),
            },
            auto_id=False,
        )
