"""The table of a list, as django-unfold's, without a template for each cell and all headers again for each row."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, time
from functools import lru_cache
from typing import Any

from django import template
from django.contrib.admin.templatetags.admin_urls import add_preserved_filters
from django.contrib.admin.utils import lookup_field
from django.core.exceptions import FieldDoesNotExist, ObjectDoesNotExist
from django.db.models import DateField, ForeignKey, ManyToOneRel, TimeField
from django.urls import NoReverseMatch
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from unfold.templatetags.unfold_list import CHECKBOX_CLASSES, LINK_CLASSES, ROW_CLASSES, result_headers
from unfold.utils import display_for_field, display_for_label, display_for_value

from fulfillment.core.admin.names import translated_badge

register = template.Library()
CHECKBOX = "action_checkbox"
CELL = '<{} class="{}" data-label="{}">'


@dataclass(frozen=True, slots=True)
class ListColumn:
    name: Any
    is_link: bool
    start: SafeString
    start_of_date: SafeString
    end: SafeString


@register.inclusion_tag("admin/result_list.html", name="console_result_list", takes_context=True)
def result_list(context: dict[str, Any], cl: Any) -> dict[str, Any]:
    headers = list(result_headers(cl))
    return {
        "cl": cl,
        "result_headers": headers,
        "num_sorted_fields": sum(bool(header["sortable"] and header["sorted"]) for header in headers),
        "rows": list(_rows(cl, headers)),
        "has_add_permission": cl.model_admin.has_add_permission(context["request"]),
    }


def _rows(cl: Any, headers: list[dict[str, Any]]) -> Iterator[SafeString]:
    columns, links = list(_list_columns(cl, headers)), _Links(cl)
    for record in cl.result_list:
        yield format_html_join("", "{}{}{}", (_render_cell(column, record, cl, links) for column in columns))


def _list_columns(cl: Any, headers: list[dict[str, Any]]) -> Iterator[ListColumn]:
    links, is_linked = cl.list_display_links or (), False
    for position, (name, header) in enumerate(zip(cl.list_display, headers, strict=True)):
        is_link = name in links
        classes = [f"field-{name.__name__ if callable(name) else name}", *ROW_CLASSES]
        if name == CHECKBOX:
            classes = list(CHECKBOX_CLASSES)
        elif _is_narrow(cl, name):
            classes.append("nowrap")
        tag = "th" if is_link and not is_linked else "td"
        is_linked = is_linked or is_link
        label = capfirst(header["text"]) if is_link or position else _("Select record")
        yield ListColumn(
            name,
            is_link,
            format_html(CELL, tag, " ".join(classes), label),
            format_html(CELL, tag, " ".join([*classes, "nowrap"]), label),
            format_html("</{}>", tag),
        )


def _is_narrow(cl: Any, name: Any) -> bool:
    try:
        return isinstance(cl.lookup_opts.get_field(name), DateField | TimeField | ForeignKey)
    except FieldDoesNotExist:
        return False


def _render_cell(
    column: ListColumn, record: Any, cl: Any, links: "_Links"
) -> tuple[SafeString, Any, SafeString]:
    content, is_date = _cell_content(column.name, record, cl)
    if column.is_link:
        content = links.link(record, content)
    return column.start_of_date if is_date else column.start, content, column.end


def _cell_content(name: Any, record: Any, cl: Any) -> tuple[Any, bool]:
    """The content of a cell, and whether it is a date from a method."""
    empty = cl.model_admin.get_empty_value_display()
    try:
        field, attribute, value = lookup_field(name, record, cl.model_admin)
    except ObjectDoesNotExist:
        return empty, False
    empty = getattr(attribute, "empty_value_display", empty)
    if field is None or field.auto_created:
        if label := getattr(attribute, "label", False):
            return _show_label(value, empty, label), False
        text = display_for_value(value, empty, getattr(attribute, "boolean", False))
        return text, isinstance(value, date | time)
    if isinstance(field.remote_field, ManyToOneRel):
        related = getattr(record, field.name)
        return empty if related is None else related, False
    return display_for_field(value, field, empty), False


def _show_label(value: Any, empty: str, label: Any) -> SafeString:
    if isinstance(value, str) and isinstance(label, dict):
        return _show_badge(*(translated_badge(value, label) or (value, None)))
    badge: SafeString = display_for_label(value, empty, label)
    return badge


@lru_cache(maxsize=256, typed=True)
def _show_badge(text: str, tone: str | None) -> SafeString:
    """Compared with its type, because text marked as safe is rendered differently."""
    badge: SafeString = display_for_label(text, "", {text: tone} if tone else {})
    return badge


class _Links:
    """Links to the pages of records; the list's own filters are the same in all of them."""

    def __init__(self, cl: Any) -> None:
        self._cl, self._query = cl, ""
        self._classes = " ".join(LINK_CLASSES)
        self._key = str(cl.to_field) if cl.to_field else cl.lookup_opts.pk.attname
        self._is_known = False

    def link(self, record: Any, content: Any) -> Any:
        try:
            address = self._cl.url_for_result(record)
        except NoReverseMatch:
            return content
        if not self._is_known:
            context = {"preserved_filters": self._cl.preserved_filters, "opts": self._cl.opts}
            self._query = add_preserved_filters(context, address).removeprefix(address)
            self._is_known = True
        opener = ""
        if self._cl.is_popup:
            opener = format_html(' data-popup-opener="{}"', record.serializable_value(self._key))
        return format_html(
            '<a href="{}" class="{}" {}>{}</a>', address + self._query, self._classes, opener, content
        )
