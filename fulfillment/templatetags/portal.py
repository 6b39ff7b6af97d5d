from datetime import date
from typing import Any

from django import template
from django.conf import settings
from django.utils import formats, timezone

register = template.Library()
# Codes of this length are names already, such as EDDM.
SHORT = 4


@register.filter
def own_path(address: str) -> str:
    """The path of a picture on this service; empty for other hosts, which the pages' policy blocks."""
    path = address.removeprefix(settings.PUBLIC_URL)
    return path if path.startswith("/") else ""


@register.filter
def wrong_fields(form: Any) -> list[Any]:
    return [form[name] for name in form.errors if name in form.fields]


@register.filter
def method_name(code: str) -> str:
    """The code of a delivery method in words: `TWO_DAY` is "Two day"."""
    return code if len(code) <= SHORT else code.replace("_", " ").replace("-", " ").capitalize()


@register.simple_tag
def date_range(first: date, last: date) -> str:
    """Such as "Nov 26", or "Nov 26" to "Dec 1"; with the year where it is another one."""
    shape = "MONTH_DAY_FORMAT" if last.year == timezone.localdate().year else "DATE_FORMAT"
    shown = [formats.date_format(day, shape) for day in (first, last)]
    return shown[0] if first == last else " \u2013 ".join(shown)


@register.filter
def with_commas(number: int) -> str:
    return formats.number_format(number, force_grouping=True)
