from collections.abc import Iterable
from datetime import datetime
from typing import Any

import orjson
from django import template
from django.utils import timezone
from django.utils.text import capfirst

register = template.Library()
MINUTES_OF_AN_HOUR = 60
HOURS_OF_A_DAY = 24


@register.filter
def pretty_json(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


@register.filter
def form_problems(adminform: Any, inlines: Iterable[Any]) -> list[dict[str, str]]:
    """All faults of a form and its inline rows, including hidden ones, with the IDs of their inputs."""
    found = _problems_of(adminform.form, "")
    for inline in inlines or ():
        formset = inline.formset
        title = capfirst(str(inline.opts.verbose_name_plural))
        found += [_problem("", title, str(said)) for said in formset.non_form_errors()]
        for number, form in enumerate(formset.forms, 1):
            found += _problems_of(form, f"{title}, row {number}")
    return found


@register.filter
def age(moment: datetime) -> str:
    """The time since `moment` in its largest unit: 43 min, 7 h, 12 days."""
    minutes = max(0, int((timezone.now() - moment).total_seconds() // 60))
    if minutes < MINUTES_OF_AN_HOUR:
        return f"{minutes} min"
    hours = minutes // MINUTES_OF_AN_HOUR
    if hours < 2 * HOURS_OF_A_DAY:
        return f"{hours} h"
    return f"{hours // HOURS_OF_A_DAY} days"


def _problems_of(form: Any, row: str) -> list[dict[str, str]]:
    found = []
    for name, messages in form.errors.items():
        field = form[name] if name in form.fields else None
        label = str(field.label) if field else ""
        where = f"{row}, {label[:1].lower()}{label[1:]}" if row and label else row or capfirst(label)
        first = next(iter(form.fields), None)
        shown = field if field else form[first] if row and first else None
        target = shown.id_for_label if shown and not shown.is_hidden else ""
        found += [_problem(target, where, str(said)) for said in messages]
    return found


def _problem(target: str, where: str, message: str) -> dict[str, str]:
    """A fault with its field name, unless the message starts with it."""
    repeats = bool(where) and message.lower().startswith(where.lower())
    return {"target": target, "where": "" if repeats else where, "message": message}
