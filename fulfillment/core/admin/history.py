"""The history page of a record: who changed what, when, and from which client address."""

import json
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.contrib import admin
from django.contrib.auth import get_user_model
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.utils.formats import date_format
from django.utils.timezone import localtime

from fulfillment.core.audit.events import WORDS

# For each list in a rendering: the name of an entry, and the members that identify it.
Parts = Mapping[str, tuple[str, tuple[str, ...]]]
# (what, before, after)
FieldChange = tuple[str, str, str]
EVENTS_OF_A_PAGE = 25
MAX_SHOWN = 40
HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
API_NAME = re.compile(r"([A-Z][a-z]+){2,}")
OWN_FIELDS = "pgh_"
# What a person never changes: `sequence` is the version of an order.
HIDDEN = frozenset({"id", "updated", "sequence", "rendering", "verbose_rendering"})


def history_page(model_admin: Any, request: HttpRequest, record: Any) -> TemplateResponse:
    events = record.pgh_event_model.objects.filter(pgh_obj=record.pk).order_by("-pgh_id")
    pages = Paginator(events.select_related("pgh_context"), EVENTS_OF_A_PAGE)
    page = pages.get_page(request.GET.get("p"))
    shown = list(page.object_list)
    # The event before the page's oldest one, to show what that changed.
    before = list(events.filter(pgh_id__lt=shown[-1].pgh_id)[:1]) if shown else []
    trail = list(_entries([*shown, *before], len(shown), names_of_callers(shown), model_admin.tracked_parts))
    besides = model_admin.extra_changes(record, shown)
    for event, entry in zip(shown, trail, strict=True):
        entry["changes"] += besides.get(event.pgh_id, [])
    context = {
        **model_admin.admin_site.each_context(request),
        "opts": model_admin.model._meta,
        "original": record,
        "title": f"History of {record}",
        "page": page,
        "trail": trail,
    }
    return TemplateResponse(request, "admin/object_trail.html", context)


def names_of_callers(events: Iterable[Any]) -> dict[str, str]:
    """User names by the IDs in the contexts of events, without deleted users."""
    ids = {str(event.pgh_context.metadata.get("user") or "") for event in events if event.pgh_context}
    users = get_user_model().objects.filter(pk__in=[one for one in ids if one])
    return {str(pk): name for pk, name in users.values_list("pk", "username")}


def names_of_records(events: Iterable[Any], fields: Iterable[Any]) -> dict[tuple[str, Any], str]:
    """The labels of records that events refer to, by attribute and key; one query for each field."""
    known: dict[tuple[str, Any], str] = {}
    for field in fields:
        if field.related_model is not None:
            keys = {key for event in events if (key := getattr(event, field.attname)) is not None}
            found = _with_names(field.related_model).in_bulk(keys) if keys else {}
            known |= {(field.attname, key): str(record) for key, record in found.items()}
    return known


def _with_names(model: Any) -> QuerySet:
    """The model's records with the relations that their labels need."""
    records: QuerySet = model._base_manager.all()  # noqa: SLF001 - as above
    related = getattr(admin.site._registry.get(model), "list_select_related", None)  # noqa: SLF001 - as above
    return records.select_related(*related) if related else records


def _entries(events: list[Any], count: int, names: dict[str, str], parts: Parts) -> Iterable[dict[str, Any]]:
    records = names_of_records(events, tracked_fields(events[0])) if events else {}
    for number in range(count):
        event, former = events[number], events[number + 1] if number + 1 < len(events) else None
        known = event.pgh_context.metadata if event.pgh_context else {}
        user = str(known.get("user") or "")
        yield {
            "when": event.pgh_created_at,
            "what": WORDS.get(event.pgh_label, event.pgh_label),
            "who": names.get(user, user),
            "through": known.get("application"),
            "where": known.get("url"),
            "changes": [
                *_changes(event, former, records),
                *(_changed_parts(event, former, parts) if parts else ()),
            ],
        }


def _changes(event: Any, former: Any, records: dict[tuple[str, Any], str]) -> list[FieldChange]:
    def shown(of: Any, field: Any) -> str:
        value = None if of is None else getattr(of, field.attname)
        name = records.get((field.attname, value)) if field.related_model else None
        return name or choice_label(field, value) or shown_value(value)

    fields = tracked_fields(event)
    pairs = [(str(field.verbose_name), shown(former, field), shown(event, field)) for field in fields]
    return [pair for pair in pairs if pair[1] != pair[2]]


def _changed_parts(event: Any, former: Any, parts: Parts) -> list[FieldChange]:
    """Changes in tables without a trail of their own, found by comparing stored representations entry by entry."""
    before, after = ({} if of is None else json.loads(of.rendering or "{}") for of in (former, event))
    changes: list[FieldChange] = []
    for name, (title, keys) in parts.items():
        old, new = (
            {" ".join(str(entry.get(key, "")) for key in keys): entry for entry in body.get(name, ())}
            for body in (before, after)
        )
        if former is None and new:
            changes.append((f"{title}s", "", shown_value(list(new))))
            continue
        for called in dict.fromkeys([*old, *new]):
            changes += _changed_entry(f"{title} {called}", old.get(called), new.get(called))
    return first_changes(changes, rest="More")


def first_changes(changes: list[FieldChange], *, rest: str) -> list[FieldChange]:
    """At most MAX_SHOWN; the last entry has the number of the others under the title `rest`."""
    if len(changes) <= MAX_SHOWN:
        return changes
    return [*changes[: MAX_SHOWN - 1], (rest, "", f"and {len(changes) - MAX_SHOWN + 1} more changes")]


def _changed_entry(called: str, old: Any, new: Any) -> list[FieldChange]:
    if old is None or new is None:
        return [(called, "", "removed" if new is None else "added")]
    return [
        (f"{called}, {HUMP.sub(' ', name).lower()}", shown_value(old.get(name)), shown_value(new.get(name)))
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


def shown_value(value: Any) -> str:
    if value is None or value == "" or value == []:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return date_format(localtime(value), "DATETIME_FORMAT")
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= 400 else f"{text[:397]} …"
