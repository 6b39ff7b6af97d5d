"""Browsers that were signed in to an account before, recognised by a signed cookie (OWASP's device cookies).

Failed sign-ins of others lock an account for all browsers but these, which have a limit of their own.
"""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import User
from fulfillment.core.secrets import digest, digests, generate_secret

KNOWN_FOR = timedelta(days=180)
SALT = "accounts.devices"
# The first match counts, because user agents also name the browsers they imitate.
BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
SYSTEMS = (
    ("Windows", "Windows"),
    ("iPhone", gettext_lazy("an iPhone")),
    ("iPad", gettext_lazy("an iPad")),
    ("Android", "Android"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)


def known_device(request: HttpRequest | None, user: User | None) -> str:
    """The ID of this browser, if this user was the last to sign in with it; else "".

    Empty as well after a password change in another browser: knowing the old password gains nothing.
    """
    signed = request.COOKIES.get(settings.DEVICE_COOKIE_NAME, "") if request else ""
    if not signed or user is None:
        return ""
    try:
        content: Any = signing.loads(signed, salt=SALT, max_age=KNOWN_FOR)
    except signing.BadSignature:
        return ""
    is_of_user = content["account"] == str(user.pk) and content.get("password") in digests(user.password)
    return str(content["device"]) if is_of_user else ""


def browser_name(user_agent: str) -> str:
    """A label such as "Firefox on Windows", made only of names from these lists."""
    browser = next((name for mark, name in BROWSERS if mark in user_agent), _("an unknown browser"))
    system = next((name for mark, name in SYSTEMS if mark in user_agent), "")
    return f"{browser} on {system}" if system else browser


def remember_device(response: HttpResponse, user: User) -> None:
    """Call it after the complete sign-in, or after a password change in this browser."""
    content = {"account": str(user.pk), "password": digest(user.password), "device": generate_secret("")}
    response.set_cookie(
        settings.DEVICE_COOKIE_NAME,
        signing.dumps(content, salt=SALT),
        max_age=KNOWN_FOR,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
