from typing import Any

import orjson
from django import template

register = template.Library()


@register.filter
def pretty_json(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
