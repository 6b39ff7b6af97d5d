"""How the reader writes dates: pages are in English, the order of a date and its clock are of the browser's locale."""

from contextlib import AbstractContextManager
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.http import HttpRequest
from django.utils import translation
from django.utils.translation.trans_real import parse_accept_lang_header

# Each has formats in `fulfillment/site/formats`; all others write 22 Nov 2026, 13:11.
MONTH_FIRST = "en-us"
TWELVE_HOURS = "en-au"
PLAIN = "en"
LOCALES = {
    "en-us": MONTH_FIRST,
    "en-ph": MONTH_FIRST,
    "es-us": MONTH_FIRST,
    "en-au": TWELVE_HOURS,
    "en-ca": TWELVE_HOURS,
    "en-in": TWELVE_HOURS,
    "en-nz": TWELVE_HOURS,
}


def locale_of(request: HttpRequest) -> str:
    """By the language that the browser names first."""
    wanted = parse_accept_lang_header(request.headers.get("Accept-Language", "").lower())
    return LOCALES.get(wanted[0][0], PLAIN) if wanted else PLAIN


def dates_of_reader(request: HttpRequest) -> AbstractContextManager[None]:
    return translation.override(locale_of(request))


def zone_named(name: str) -> ZoneInfo:
    """UTC for a name that this machine does not know."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")
