from django import template
from django.conf import settings

register = template.Library()


@register.filter
def own_path(address: str) -> str:
    """A picture of this service as a path; nothing for one of elsewhere, which the policy of the pages keeps out."""
    path = address.removeprefix(settings.PUBLIC_URL)
    return path if path.startswith("/") else ""


@register.filter
def with_commas(number: int) -> str:
    return f"{number:,}"
