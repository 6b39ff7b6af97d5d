"""Filters and tags of the console's templates: JSON, ages, scripts of a page, and the problems of a form."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import orjson
from django import template
from django.contrib.admin import site
from django.forms import Media
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext as _

register = template.Library()
MINUTES_OF_AN_HOUR = 60
HOURS_OF_A_DAY = 24
# Django adds these to each list and form: fields filled from others, records in windows of their own, rows by jQuery.
NEVER_USED = (
    "admin/js/urlify.js",
    "admin/js/prepopulate.js",
    "admin/js/vendor/",
    "admin/js/jquery.init.js",
    "admin/js/inlines.js",
    "admin/js/admin/RelatedObjectLookups.js",
)
ACTIONS, CALENDAR, CORE = "admin/js/actions.js", "admin/js/calendar.js", "admin/js/core.js"


@register.filter
def pretty_json(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


@register.filter
def name_of_list(plural: Any) -> Any:
    """The name that the menu has for the list of records with this plural."""
    admins: Iterable[Any] = site._registry.values()  # noqa: SLF001 - Django has no public way to a registered admin
    names = (
        model_admin.plural_name
        for model_admin in admins
        if getattr(model_admin, "plural_name", "") and model_admin.opts.verbose_name_plural == plural
    )
    return next(names, plural)


@register.simple_tag
def page_scripts(media: Media, page: str) -> SafeString:
    """The scripts of a "list" or "form" that it uses, to run in their order once the page is read."""
    paths = [str(path) for path in media._js if not str(path).startswith(NEVER_USED)]  # type: ignore[attr-defined]  # noqa: SLF001 - Media has no other list
    if page == "form":
        paths = [path for path in paths if path != ACTIONS]
    if CALENDAR not in paths:
        paths = [path for path in paths if path != CORE]
    addresses = [media.absolute_path(path) for path in paths]
    if {ACTIONS, CALENDAR} & set(paths):
        addresses.insert(0, reverse("admin:jsi18n"))
    return format_html_join("\n", '<script src="{}" defer></script>', ((address,) for address in addresses))


@register.filter
def form_problems(adminform: Any, inlines: Iterable[Any]) -> list[dict[str, str]]:
    """All faults of a form and its inline rows, including hidden ones, with the IDs of their inputs."""
    problems = _problems_of(adminform.form, "")
    for inline in inlines or ():
        formset = inline.formset
        title = capfirst(str(inline.opts.verbose_name_plural))
        problems += [_make_problem("", title, str(message)) for message in formset.non_form_errors()]
        for number, form in enumerate(formset.forms, 1):
            problems += _problems_of(form, f"{title}, row {number}")
    return problems


@register.filter
def age(moment: datetime) -> str:
    """The time since `moment` in its largest unit: 43 min, 7 h, 12 days."""
    minutes = max(0, int((timezone.now() - moment).total_seconds() // 60))
    if minutes < MINUTES_OF_AN_HOUR:
        return _("%(minutes)s min") % {"minutes": minutes}
    hours = minutes // MINUTES_OF_AN_HOUR
    if hours < 2 * HOURS_OF_A_DAY:
        return _("%(hours)s h") % {"hours": hours}
    return _("%(days)s days") % {"days": hours // HOURS_OF_A_DAY}


def _problems_of(form: Any, row: str) -> list[dict[str, str]]:
    problems = []
    for name, messages in form.errors.items():
        field = form[name] if name in form.fields else None
        label = str(field.label) if field else ""
        where = f"{row}, {label[:1].lower()}{label[1:]}" if row and label else row or capfirst(label)
        first = next(iter(form.fields), None)
        subject = field if field else form[first] if row and first else None
        target = subject.id_for_label if subject and not subject.is_hidden else ""
        problems += [_make_problem(target, where, str(message)) for message in messages]
    return problems


def _make_problem(target: str, where: str, message: str) -> dict[str, str]:
    """A fault with its field name, unless the message starts with it."""
    repeats = bool(where) and message.lower().startswith(where.lower())
    return {"target": target, "where": "" if repeats else where, "message": message}
