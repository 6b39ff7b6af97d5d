"""The endpoints of the authorization server."""

import json
from collections.abc import Callable
from typing import Any, cast
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import BadRequest, SuspiciousOperation
from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views import View
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_post_parameters
from oauthlib.oauth2.rfc6749 import errors

from accounts.models import User
from accounts.pages.confirmation import confirmed_until
from accounts.permissions import Permission
from accounts.rate_limits import RateLimitStatus
from applications.oauth.credentials import ClientAttempt, flooding_address
from applications.oauth.server import (
    AuthorizationRequest,
    ConsentForm,
    error_location,
    origin_source,
    read_authorization_request,
    redirect,
    server,
)
from applications.registration.services.applications import COMMAND_LINE_ID
from fulfillment.core.api.errors import is_database_unavailable
from fulfillment.core.api.parsing import FEW_FIELDS, SMALL_FORM, field_count, stated_size
from fulfillment.core.errors import ServiceBusy, TooManyAtOnce
from fulfillment.core.observability.instruments import count_refusal

# Chromium applies form-action also to the redirect after the form, so it must allow the target.
CONSENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self' {origin}; base-uri 'none'; frame-ancestors 'none'"
)
TOKEN_PARAMETERS = frozenset(
    {"grant_type", "code", "code_verifier", "redirect_uri", "refresh_token", "scope", "resource"}
)
REVOCATION_PARAMETERS = frozenset({"token", "token_type_hint"})
CLIENT_PARAMETERS = frozenset({"client_id", "client_secret"})
DESCRIPTIONS = {
    "invalid_client": "The client_id is not known, the key is wrong or has ended, or no credentials were sent.",
    "invalid_grant": "The code or refresh token is wrong, was used or has ended, or belongs to another client.",
    "invalid_scope": "A scope is not known, or this client may not have it. The API reference names the scopes.",
    "unauthorized_client": "This client may not use this grant_type.",
    "unsupported_grant_type": "grant_type must be authorization_code, refresh_token or client_credentials.",
}
NO_STORE = {"Cache-Control": "no-store", "Pragma": "no-cache"}

Respond = Callable[..., tuple[dict[str, str], str | None, int]]


def effect_of_consent(request: HttpRequest) -> str:
    """The action to confirm before the consent page, or "".

    Not after it: browsers forbid a form of the confirmation to end at another origin.
    """
    if request.method == "POST":
        return ""
    try:
        needs_confirmation = read_authorization_request(request.GET).needs_confirmation
    except errors.OAuth2Error:
        return ""
    return _("Give an application wide access") if needs_confirmation else ""


class AuthorizeView(View):
    """Shows the consent page to the signed-in user. Errors go back to the application only after the sign-in:
    otherwise this address could be used to send people anywhere (RFC 9700, section 4.11.2)."""

    http_method_names = ["get", "head", "post"]

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._response(request, self._show_consent)

    def post(self, request: HttpRequest) -> HttpResponse:
        return self._response(request, self._decide)

    def _response(
        self, request: HttpRequest, then: Callable[[HttpRequest, AuthorizationRequest], HttpResponse]
    ) -> HttpResponse:
        data = request.POST if request.method == "POST" else request.GET
        status = 303 if request.method == "POST" else 302
        try:
            authorization_request = read_authorization_request(data)
            return (
                then(request, authorization_request) if request.user.is_authenticated else _sign_in(request)
            )
        except errors.FatalClientError as error:
            return _show_error(request, error)
        except errors.OAuth2Error as error:
            if not request.user.is_authenticated:
                return _sign_in(request)
            return redirect(error_location(error, error.redirect_uri, error.response_type), status=status)

    def _show_consent(
        self, request: HttpRequest, authorization_request: AuthorizationRequest
    ) -> HttpResponse:
        if not authorization_request.needs_consent:
            return redirect(authorization_request.grant(cast(User, request.user)), status=302)
        context = {
            "application": authorization_request.application,
            "scopes": authorization_request.scopes,
            "permissions": [(name, str(Permission(name).label)) for name in authorization_request.scopes],
            # Without requested scopes the defaults apply, which the application did not choose.
            "names_none": not request.GET.get("scope", "").strip(),
            "gets_key": authorization_request.application.client_id == COMMAND_LINE_ID,
            "form": ConsentForm.for_request(authorization_request),
            "redirect_uri": authorization_request.redirect_uri,
        }
        policy = CONSENT_POLICY.format(origin=origin_source(authorization_request.redirect_uri))
        headers = {**NO_STORE, "Content-Security-Policy": policy}
        return TemplateResponse(request, "oauth2_provider/authorize.html", context, headers=headers)

    def _decide(self, request: HttpRequest, authorization_request: AuthorizationRequest) -> HttpResponse:
        is_allowed = request.POST.get("allow", "").lower() not in {"", "false", "0"}
        if is_allowed and authorization_request.needs_confirmation and not confirmed_until(request):
            return redirect(_return_address(request), status=303)
        return redirect(
            authorization_request.grant(cast(User, request.user))
            if is_allowed
            else authorization_request.deny(),
            status=303,
        )


@method_decorator([csrf_exempt, sensitive_post_parameters()], name="dispatch")
class TokenView(View):
    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return _client_response(request, TOKEN_PARAMETERS, server().create_token_response)


@method_decorator([csrf_exempt, sensitive_post_parameters()], name="dispatch")
class RevokeView(View):
    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return _client_response(request, REVOCATION_PARAMETERS, server().create_revocation_response)


def _client_response(request: HttpRequest, names: frozenset[str], respond: Respond) -> HttpResponse:
    if request.method != "POST":
        error = errors.InvalidRequestError("The request must be a POST.", status_code=405)
        return _response(error.json, 405, {"Allow": "POST"})
    try:
        _read_body(request)
        if limit_status := flooding_address(request):
            return _too_many_failures(limit_status)
        form = _read_form(request, names | CLIENT_PARAMETERS)
        attempt = ClientAttempt.of(request, form)
        if limit_status := attempt.cached_rejection():
            return _too_many_failures(limit_status)
        content, status = _response_to(request, form, respond)
        if limit_status := attempt.count_outcome(content, status):
            return _too_many_failures(limit_status)
    except errors.OAuth2Error as error:
        content, status = error.json, error.status_code
    except (ServiceBusy, TooManyAtOnce) as busy:
        away = errors.TemporarilyUnavailableError(busy.message)
        return _response(away.json, busy.status, {"Retry-After": str(busy.retry_after)})
    except (DatabaseError, InterfaceError) as error:
        if not is_database_unavailable(error):
            raise
        # Not a client error, after which clients would discard valid credentials.
        away = errors.TemporarilyUnavailableError(
            "The database does not respond right now. Try again in a few seconds."
        )
        return _response(away.json, 503, {"Retry-After": "5"})
    return _response(content or "", status)


def _response_to(
    request: HttpRequest, form: list[tuple[str, str]], respond: Respond
) -> tuple[str | None, int]:
    headers = {}
    if "HTTP_AUTHORIZATION" in request.META:
        headers["Authorization"] = request.META["HTTP_AUTHORIZATION"]
    try:
        _headers, content, status = respond(request.path, "POST", urlencode(form), headers)
    except errors.OAuth2Error as error:
        return error.json, error.status_code
    return content, status


def _add_description(content: str) -> str:
    """Adds a description to errors that have none."""
    error = json.loads(content or "{}")
    if "error" in error and not error.get("error_description"):
        error["error_description"] = DESCRIPTIONS.get(error["error"], "The request was refused.")
    return json.dumps(error)


def _response(content: str, status: int, headers: dict[str, str] | None = None) -> HttpResponse:
    content = _add_description(content) if status >= 400 else content
    response = HttpResponse(content, status=status, content_type="application/json", headers=NO_STORE)
    if status == 401:
        # Clients can always authenticate by Basic here.
        response["WWW-Authenticate"] = f'Basic realm="{settings.PUBLIC_URL}", charset="UTF-8"'
    for name, value in (headers or {}).items():
        response[name] = value
    return response


def _too_many_failures(limit_status: RateLimitStatus) -> HttpResponse:
    count_refusal(limit_status.policy)
    wait = limit_status.seconds_until_reset
    error = errors.TemporarilyUnavailableError(f"Too many refused requests. Try again in {wait} seconds.")
    return _response(error.json, 429, {"Retry-After": str(wait), **limit_status.headers()})


def _read_body(request: HttpRequest) -> None:
    """Reads the body even for refused clients: otherwise the server would reset the connection."""
    if stated_size(request) > SMALL_FORM:
        message = f"The body has more than {SMALL_FORM:,} bytes."
        raise errors.InvalidRequestError(message, status_code=413)
    if len(request.body) and field_count(request) > FEW_FIELDS:
        raise errors.InvalidRequestError(f"The body has more than {FEW_FIELDS} parameters.")


def _read_form(request: HttpRequest, names: frozenset[str]) -> list[tuple[str, str]]:
    """The named parameters of the form; unknown ones are ignored (RFC 6749, section 3.2)."""
    if request.META.get("QUERY_STRING"):
        raise errors.InvalidRequestError("Send parameters in the body, not in the URL.")
    if request.content_type != "application/x-www-form-urlencoded":
        raise errors.InvalidRequestError(
            "The body must be a form (application/x-www-form-urlencoded), such as grant_type=client_credentials."
        )
    try:
        form = request.POST
    except (BadRequest, SuspiciousOperation) as error:
        raise errors.InvalidRequestError("The body cannot be read.") from error
    pairs = [(name, value) for name in sorted(names) for value in form.getlist(name) if value]
    once = [name for name, _value in pairs if name != "resource"]
    if len(once) != len(set(once)):
        raise errors.InvalidRequestError("A parameter was sent more than once.")
    if any("\0" in value for _name, value in pairs):
        raise errors.InvalidRequestError("A parameter contains a NUL character.")
    if names >= TOKEN_PARAMETERS and "grant_type" not in once:
        raise errors.InvalidRequestError("grant_type is missing.")
    return pairs


def _sign_in(request: HttpRequest) -> HttpResponse:
    # After a POST the session ended while the consent page was open.
    question = _return_address(request) if request.method == "POST" else request.get_full_path()
    return redirect_to_login(question, settings.LOGIN_URL)


def _return_address(request: HttpRequest) -> str:
    """The address of the consent page whose form was sent."""
    parameters = [
        (name, value) for name, value in request.POST.items() if name not in {"allow", "csrfmiddlewaretoken"}
    ]
    return f"{request.path}?{urlencode(parameters)}"


def _show_error(request: HttpRequest, error: errors.OAuth2Error) -> HttpResponse:
    context = {"error": json.loads(error.json) | {"description": error.description}}
    return TemplateResponse(request, "oauth2_provider/error.html", context, status=400, headers=NO_STORE)
