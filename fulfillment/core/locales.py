"""The reader's language, and how the reader's country writes dates and numbers."""

from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation.trans_real import parse_accept_lang_header

# Each has formats in `fulfillment/site/formats` or in Django; others write those of the language alone.
MONTH_FIRST = "en-us"
TWELVE_HOURS = "en-au"
DECIMAL_POINT = "es-mx"
POINT_REGIONS = ("419", "do", "gt", "hn", "mx", "ni", "pa", "pe", "pr", "sv", "us")
LOCALES = {
    "en-us": MONTH_FIRST,
    "en-ph": MONTH_FIRST,
    "en-au": TWELVE_HOURS,
    "en-ca": TWELVE_HOURS,
    "en-in": TWELVE_HOURS,
    "en-nz": TWELVE_HOURS,
    **{f"es-{region}": DECIMAL_POINT for region in POINT_REGIONS},
}


def get_locale(request: HttpRequest, language: str = "") -> str:
    """The locale of this language, or of the first of the browser that the pages have; the country is the browser's."""
    return locale_in(request.headers.get("Accept-Language", ""), language)


def locale_in(accept_language: str, language: str = "") -> str:
    """Finds the language as `get_locale`, from the text of the header."""
    accepted = parse_accept_lang_header(accept_language.lower())
    parts = [code.partition("-") for code, _ in accepted]
    languages = dict(settings.LANGUAGES)
    if not language:
        language = next((name for name, _, _ in parts if name in languages), settings.DEFAULT_LANGUAGE)
    region = parts[0][2] if parts else ""
    return LOCALES.get(f"{language}-{region}", language)


class ReaderZone(ZoneInfo):
    """A time within hours of the calendar's ends, which callers and presses may send, is shown as it is in UTC."""

    def fromutc(self, moment: datetime) -> datetime:
        try:
            return super().fromutc(moment)
        except OverflowError:
            return moment


def zone_named(name: str) -> ReaderZone:
    """UTC for a name that this machine does not know."""
    try:
        return ReaderZone(name)
    except (ZoneInfoNotFoundError, ValueError):
        return ReaderZone("UTC")
