"""Registers and changes applications, and checks their redirect URIs."""

import secrets
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.text import slugify
from django.utils.translation import gettext as _

from accounts.callers import Caller
from accounts.models import Role, User
from accounts.services.subscriptions import create_subscription
from applications.registration.models import Application
from applications.registration.services.keys import (
    add_key,
    change_key_dates,
    date_faults,
    get_key,
    lock_application,
    regenerate_key,
)
from fulfillment.core.db.changes import saved_if_changed
from fulfillment.core.errors import (
    Conflict,
    Fault,
    Forbidden,
    Invalid,
    NotFound,
    collecting_faults,
    raise_faults,
)
from fulfillment.core.web_addresses import split_url
from printing.text import is_blank

MAX_REPLY_URLS = 50
MAX_REPLY_URL_LENGTH = 2048
CONSOLE_ID = "api-console"
COMMAND_LINE_ID = "fulfillment-cli"
# The API's names and their columns.
FIELDS = {
    "Name": "name",
    "Description": "description",
    "ApplicationURL": "application_url",
    "IsEnabled": "is_enabled",
    "SupportUrl": "support_url",
    "SupportPhone": "support_phone",
    "SupportEmail": "support_email",
    "ImplicitFlowAllowed": "implicit_flow_allowed",
}
NAMES = {column: name for name, column in FIELDS.items()}
OWNER_GRANTS = ("Application.Self.Read", "Application.Self.Write")


def reply_url_faults(urls: Sequence[str]) -> list[Fault]:
    if len(urls) > MAX_REPLY_URLS:
        message = _("At most %(max_urls)s reply URLs are allowed; %(sent)s were sent.")
        text = message % {"max_urls": MAX_REPLY_URLS, "sent": len(urls)}
        return [Fault("/ReplyUrls", "too_many_reply_urls", text)]
    faults = []
    for index, url in enumerate(urls):
        if mistake := _find_mistake(url):
            faults.append(Fault(f"/ReplyUrls/{index}", "reply_url_invalid", f"{url[:100]!r} {mistake}"))
    return faults


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _find_mistake(url: str) -> str:
    if len(url) > MAX_REPLY_URL_LENGTH:
        return f"is longer than {MAX_REPLY_URL_LENGTH} characters."
    if not url.isascii() or not url.isprintable() or any(character in url for character in ' \\"<>^`{|}'):
        return "holds characters that a URL cannot hold; percent-encode them."
    parts = split_url(url)
    if parts is None:
        return "is not a URL."
    if not url.startswith(("https://", "http://")) or not parts.hostname:
        return "must be an absolute URL that starts with https://."
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        return "must use https; http is allowed on the loopback address only."
    if "*" in parts.netloc:
        return "names no single host; wildcards are not matched."
    if "#" in url:
        return "must have no fragment."
    if "@" in parts.netloc:
        return "must have no user name or password."
    if parts.port == 0 or parts.netloc.endswith(":"):
        return "has no usable port."
    return ""


@transaction.atomic
def create_application(
    *,
    caller: Caller,
    values: Mapping[str, Any],
    external_id: str | None = None,
    is_first_party: bool = False,
) -> Application:
    """Registers an application from the API's field names; the caller becomes its owner.

    Raises Conflict if a user without operator rights has as many as allowed.
    """
    is_test = _is_new_for_tests(caller, values)
    _refuse_too_many(caller)
    application = Application(
        client_id=external_id or _external_id(values.get("Name", "")),
        client_secret="",
        user_id=caller.user_id,
        client_type=Application.CLIENT_PUBLIC,
        authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE,
        hash_client_secret=False,
        is_test=is_test,
        is_first_party=is_first_party,
    )
    _write(application, values)
    application.save(force_insert=True)
    if caller.user_id is not None:
        Role.objects.bulk_create(
            [Role(user_id=caller.user_id, application=application, grant=grant) for grant in OWNER_GRANTS]
        )
    create_subscription(application=application)
    _write_keys(application, values.get("Keys", ()))
    return application


def _is_new_for_tests(caller: Caller, values: Mapping[str, Any]) -> bool:
    """The mode of a new application: test applications create test applications."""
    if caller.is_test and values.get("IsTest") is False:
        message = "IsTest: a test application can create only test applications. Omit it or send true."
        raise Invalid.at("/IsTest", "test_application", message)
    return caller.is_test or bool(values.get("IsTest"))


def _refuse_too_many(caller: Caller) -> None:
    """Limits the applications of a user, because each has its own rate limit."""
    if caller.user_id is None or caller.is_operator:
        return
    User.objects.select_for_update(of=("self",), no_key=True).get(pk=caller.user_id)
    most = settings.APPLICATIONS_PER_USER
    if Application.objects.filter(user=caller.user_id).count() >= most:
        raise Conflict(
            _(
                "You have registered %(limit)s applications, which is the limit; an operator can register more."
            )
            % {"limit": most},
            code="too_many_applications",
        )


@transaction.atomic
def change_application(
    *,
    application: Application,
    values: Mapping[str, Any],
    is_blocked: bool | None = None,
    is_first_party: bool | None = None,
) -> Application:
    """Changes the given members; ReplyUrls replaces the list, other keys stay.

    Operators set or lift the block and choose what is first-party, in the console. A blocked application stays
    disabled.
    """
    lock_application(application)
    application.refresh_from_db()
    if values.get("IsTest", application.is_test) != application.is_test:
        message = "IsTest: you cannot change it after registration. Create another application."
        raise Invalid.at("/IsTest", "is_test_fixed", message)
    with saved_if_changed(application):
        if is_first_party is not None:
            application.is_first_party = is_first_party
        if is_blocked is not None:
            application.is_blocked = is_blocked
        elif application.is_blocked and values.get("IsEnabled"):
            message = _("An operator of the service blocked this application. Only operators can enable it.")
            raise Forbidden(message, code="application_blocked")
        _write(application, {**values, "IsEnabled": False} if application.is_blocked else values)
    _write_keys(application, values.get("Keys", ()))
    return application


def _write(application: Application, values: Mapping[str, Any]) -> None:
    faults = _find_faults(application, values)
    if "ReplyUrls" in values:
        application.redirect_uris = " ".join(dict.fromkeys(values["ReplyUrls"]))
    if faults:
        faults += _date_faults(values)
        message = faults[0].message if len(faults) == 1 else "The application cannot be saved."
        raise Invalid(message, code="invalid_body", faults=faults)


def _find_faults(application: Application, values: Mapping[str, Any]) -> list[Fault]:
    """Sets the members and returns what is wrong with them."""
    for name, column in FIELDS.items():
        if name in values:
            setattr(application, column, values[name])
    return [*_field_faults(application), *reply_url_faults(values.get("ReplyUrls", ()))]


def _date_faults(values: Mapping[str, Any]) -> list[Fault]:
    """Faults of the keys that are sent with both dates."""
    return [
        fault
        for index, key in enumerate(values.get("Keys", ()))
        for fault in date_faults(key.get("StartDate"), key.get("EndDate"), f"/Keys/{index}")
    ]


def _field_faults(application: Application) -> list[Fault]:
    faults = []
    if is_blank(application.name):
        faults.append(Fault("/Name", "required", _("Name: an application needs a name.")))
    try:
        # The toolkit's clean() has other rules for redirect URIs; `reply_url_faults` has ours.
        application.clean_fields(exclude={"client_secret", "user", "redirect_uris"})
    except ValidationError as error:
        for column, reasons in error.error_dict.items():
            name = NAMES.get(column, column)
            faults += [
                Fault(f"/{name}", r.code or "invalid", f"{name}: {' '.join(r.messages)}") for r in reasons
            ]
    return faults


def _write_keys(application: Application, keys: Sequence[Mapping[str, Any]]) -> None:
    """Writes all keys, or none and raises every fault."""
    faults: list[Fault] = []
    for index, key in enumerate(keys):
        with collecting_faults(faults):
            _write_key(application, key, pointer=f"/Keys/{index}")
    if len(faults) > 1:
        message = _("The keys have %(count)s errors.") % {"count": len(faults)}
        raise Invalid(message, code="invalid_body", faults=faults)
    raise_faults(faults)


def _write_key(application: Application, key: Mapping[str, Any], *, pointer: str) -> None:
    start, end = key.get("StartDate"), key.get("EndDate")
    if not key.get("ID"):
        add_key(application=application, start_date=start, end_date=end, pointer=pointer)
        return
    try:
        get_key(application, key["ID"])
    except NotFound as error:
        raise Invalid.at(f"{pointer}/ID", error.code, error.message) from error
    if start or end:
        change_key_dates(
            application=application, key_id=key["ID"], start_date=start, end_date=end, pointer=pointer
        )
    if key.get("GenerateKey"):
        regenerate_key(application=application, key_id=key["ID"])


def _external_id(name: str) -> str:
    readable = slugify(name)[:40].strip("-_") or "application"
    return f"{readable}-{secrets.token_hex(6)}"


def ensure_api_console() -> Application:
    """The application through which the API reference calls the API. It has no redirect URI, so its tokens are issued
    by this service alone.
    """
    return _ensure_built_in(
        client_id=CONSOLE_ID, name="API console", description="The interactive reference of this service."
    )


def ensure_command_line() -> Application:
    """The application of `fulfillment login`, which comes back to any port of the person's machine (RFC 8252)."""
    return _ensure_built_in(
        client_id=COMMAND_LINE_ID,
        name="Command line",
        description="The command fulfillment, on your own machine.",
        redirect_uris="http://127.0.0.1/callback http://[::1]/callback",
    )


@transaction.atomic
def _ensure_built_in(*, client_id: str, name: str, description: str, redirect_uris: str = "") -> Application:
    """A first-party application without a key, as this release describes it."""
    values = {
        "name": name,
        "description": description,
        "application_url": settings.PUBLIC_URL,
        "client_secret": "",
        "hash_client_secret": False,
        "client_type": Application.CLIENT_PUBLIC,
        "authorization_grant_type": Application.GRANT_AUTHORIZATION_CODE,
        "is_first_party": True,
        "redirect_uris": redirect_uris,
    }
    applications = Application.objects.select_for_update()
    application, _is_new = applications.get_or_create(client_id=client_id, defaults=values)
    with saved_if_changed(application):
        for column, value in values.items():
            setattr(application, column, value)
    return application
