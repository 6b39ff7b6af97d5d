"""The history page of a record: who changed what, when, and from which client address."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import date, datetime
from types import MappingProxyType
from typing import Any

from django.contrib import admin
from django.contrib.auth import get_user_model
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from fulfillment.core.audit.events import WORDS
from fulfillment.core.audit.log import DERIVED, kind_of
from fulfillment.core.plugins import offered_values
from fulfillment.core.recorded_texts import translated
from fulfillment.core.text import parse_uuid

# For each list in a rendering: its name, the members that identify an entry, and names for codes in them.
Parts = Mapping[str, tuple[Any, tuple[str, ...], Mapping[str, Callable[[Any], str]]]]
# Labels of records by model and key.
RecordNames = Mapping[tuple[Any, Any], str]
# By "app.model.field": the name of a code in the field of an event.
CodeNames = Mapping[str, Callable[[Any, Any], str]]
# (what, before, after)
FieldChange = tuple[str, str, str]
EVENTS_OF_A_PAGE = 25
MAX_SHOWN = 40
HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
API_NAME = re.compile(r"([A-Z][a-z]+){2,}")
OWN_FIELDS = "pgh_"
# What a person never changes: `sequence` is the version of an order.
HIDDEN = DERIVED | {"id", "updated", "sequence"}


def history_page(model_admin: Any, request: HttpRequest, record: Any) -> TemplateResponse:
    events = record.pgh_event_model.objects.filter(pgh_obj=record.pk).order_by("-pgh_id")
    pages = Paginator(events.select_related("pgh_context"), EVENTS_OF_A_PAGE)
    page = pages.get_page(request.GET.get("p"))
    page_events = list(page.object_list)
    # The event before the page's oldest one, to show what that changed.
    before = list(events.filter(pgh_id__lt=page_events[-1].pgh_id)[:1]) if page_events else []
    formers = [*page_events[1:], *before, None]
    people, records = names_of_people(page_events), names_of_records([*page_events, *before])
    codes = names_of_codes([*page_events, *before])
    besides, parts = model_admin.extra_changes(record, page_events), model_admin.tracked_parts
    trail = [
        {
            **event_facts(event, people),
            "changes": [
                *event_changes(event, former, records, codes),
                *(_changed_parts(event, former, parts) if parts else ()),
                *besides.get(event.pgh_id, ()),
            ],
        }
        for event, former in zip(page_events, formers, strict=False)
    ]
    context = {
        **model_admin.admin_site.each_context(request),
        "opts": model_admin.model._meta,
        "original": record,
        "back_to": model_admin.address_of(record),
        "title": _("History of %(record)s") % {"record": record},
        "page": page,
        "trail": trail,
    }
    return TemplateResponse(request, "admin/object_trail.html", context)


def names_of_people(events: Iterable[Any]) -> dict[str, str]:
    """User names by the IDs in the contexts of events, without deleted users."""
    ids = {_read_context(event).get("user") for event in events} - {None, ""}
    users = get_user_model().objects.filter(pk__in=[user_id for user_id in ids if parse_uuid(str(user_id))])
    return {str(pk): name for pk, name in users.values_list("pk", "username")}


def names_of_records(events: Iterable[Any]) -> RecordNames:
    """The labels of records that events refer to; one query for each model."""
    referred: dict[Any, set[Any]] = {}
    for event in events:
        for field in tracked_fields(event):
            if field.related_model:
                referred.setdefault(field.related_model, set()).add(getattr(event, field.attname))
    return {
        (model, key): str(record)
        for model, keys in referred.items()
        for key, record in _with_names(model).in_bulk(keys - {None}).items()
    }


def names_of_codes(events: Collection[Any]) -> CodeNames:
    """By field, from `CODE_NAMES` of apps: a function that reads the names for its events at once."""
    code_names = {}
    for path, name_codes in (
        pair for offer in offered_values("console", "CODE_NAMES") for pair in offer.items()
    ):
        model = path.rpartition(".")[0]
        if fitting := [event for event in events if kind_of(event) == model]:
            code_names[path] = name_codes(fitting)
    return code_names


def _with_names(model: Any) -> QuerySet:
    """The model's records with the relations that their labels need."""
    records: QuerySet = model._base_manager.all()  # noqa: SLF001 - past managers that hide rows
    related = getattr(admin.site._registry.get(model), "list_select_related", None)  # noqa: SLF001 - Django has no public method for it
    return records.select_related(*related) if isinstance(related, list | tuple) else records


def event_facts(event: Any, people: Mapping[str, str]) -> dict[str, Any]:
    """A page's facts: when, what, who, through which application and where. `what` is in the reader's language."""
    context = _read_context(event)
    user = str(context.get("user") or "")
    return {
        "when": event.pgh_created_at,
        "what": _(WORDS.get(event.pgh_label, event.pgh_label)),
        "is_change": event.pgh_label == "update",
        "who": people.get(user, user),
        "through": str(context.get("application") or ""),
        "where": str(context.get("url") or ""),
    }


def _read_context(event: Any) -> dict[str, Any]:
    return (event.pgh_context.metadata if event.pgh_context else None) or {}


def event_changes(
    event: Any, former: Any, records: RecordNames, codes: CodeNames = MappingProxyType({})
) -> list[FieldChange]:
    def text_of(of: Any, field: Any) -> str:
        return "" if of is None else event_value(of, field, records, codes)

    fields = tracked_fields(event)
    pairs = [(str(field.verbose_name), text_of(former, field), text_of(event, field)) for field in fields]
    return [pair for pair in pairs if pair[1] != pair[2]]


def event_value(event: Any, field: Any, records: RecordNames, codes: CodeNames = MappingProxyType({})) -> str:
    """A field's value as people know it."""
    value = getattr(event, field.attname)
    if name := records.get((field.related_model, value)) if field.related_model else None:
        return name
    if value and (name_code := codes.get(f"{kind_of(event)}.{field.name}")):
        name_of_value = (
            [name_code(event, code) for code in value] if isinstance(value, list) else name_code(event, value)
        )
        return format_value(name_of_value)
    of_list = getattr(field, "base_field", None)
    if of_list is not None and of_list.choices and value:
        return format_value([choice_label(of_list, choice) or choice for choice in value])
    return choice_label(field, value) or format_value(value)


def _changed_parts(event: Any, former: Any, parts: Parts) -> list[FieldChange]:
    """Changes in tables without a trail of their own, found by comparing stored representations entry by entry."""
    before, after = ({} if of is None else json.loads(of.rendering or "{}") for of in (former, event))
    changes: list[FieldChange] = []
    for name, (title, keys, codes) in parts.items():
        old, new = (
            {
                " ".join(str(codes.get(key, str)(entry.get(key, ""))) for key in keys): entry
                for entry in body.get(name, ())
            }
            for body in (before, after)
        )
        if former is None and new:
            changes.append((str(title), "", format_value(list(new))))
            continue
        for called in dict.fromkeys([*old, *new]):
            changes += _changed_entry(f"{title}: {called}", old.get(called), new.get(called))
    return limit_changes(changes, remaining_title=_("More"))


def limit_changes(changes: list[FieldChange], *, remaining_title: str) -> list[FieldChange]:
    """Keeps at most MAX_SHOWN changes; the last entry has the number of the others under `remaining_title`."""
    if len(changes) <= MAX_SHOWN:
        return changes
    remainder = _("and %(count)s more changes") % {"count": len(changes) - MAX_SHOWN + 1}
    return [*changes[: MAX_SHOWN - 1], (remaining_title, "", remainder)]


def _changed_entry(called: str, old: Any, new: Any) -> list[FieldChange]:
    if old is None or new is None:
        return [(called, "", _("removed") if new is None else _("added"))]
    return [
        (f"{called}, {HUMP.sub(' ', name).lower()}", format_value(old.get(name)), format_value(new.get(name)))
        for name in dict.fromkeys([*old, *new])
        if old.get(name) != new.get(name)
    ]


def tracked_fields(event: Any) -> list[Any]:
    """The fields that users change, without derived renderings."""
    return [
        field
        for field in event._meta.concrete_fields
        if not field.name.startswith(OWN_FIELDS) and field.name not in HIDDEN
    ]


def choice_label(field: Any, value: Any) -> str:
    """The label of a value in forms and lists; a name of the API, such as InProduction, in words."""
    label = str(dict(field.flatchoices).get(value, "")) if field.choices else ""
    return HUMP.sub(" ", label).capitalize() if API_NAME.fullmatch(label) else label


def format_value(value: Any) -> str:
    if value is None or value == "" or value == []:
        return ""
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, datetime):
        return date_format(localtime(value), "DATETIME_FORMAT")
    if isinstance(value, date):
        return date_format(value, "DATE_FORMAT")
    text = ", ".join(map(str, value)) if isinstance(value, list) else translated(value)
    return text if len(text) <= 400 else f"{text[:397]} …"
