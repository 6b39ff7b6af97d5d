from typing import Any

from django import template
from django.conf import settings

register = template.Library()


@register.filter
def own_path(address: str) -> str:
    """The path of a picture on this service; empty for other hosts, which the pages' policy blocks."""
    path = address.removeprefix(settings.PUBLIC_URL)
    return path if path.startswith("/") else ""


@register.filter
def wrong_fields(form: Any) -> list[Any]:
    return [form[name] for name in form.errors if name in form.fields]


@register.filter
def with_commas(number: int) -> str:
    return f"{number:,}"
