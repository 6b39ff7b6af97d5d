"""The audit log page: who changed what and when, over all tracked models."""

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.contrib.auth import get_user_model
from django.core.exceptions import PermissionDenied
from django.db.models import Model, Q
from django.http import HttpRequest, QueryDict
from django.template.response import TemplateResponse
from django.urls import NoReverseMatch, reverse
from django.utils.dateparse import parse_date, parse_datetime
from django.utils.text import capfirst
from django.utils.timezone import is_aware, make_aware
from django.utils.translation import gettext as _

from fulfillment.core.admin.history import (
    CodeNames,
    RecordNames,
    event_changes,
    event_facts,
    limit_changes,
    names_of_codes,
    names_of_people,
    names_of_records,
    tracked_fields,
)
from fulfillment.core.audit.events import WORDS
from fulfillment.core.audit.indexes import event_models
from fulfillment.core.audit.log import AuditFilter, LogEntry, LogPlace, kind_of, read_log
from fulfillment.core.text import parse_number, parse_uuid

ENTRIES_OF_A_PAGE = 25
# Columns that label a record; the first existing one is used.
NAMING = (
    "number",
    "external_id",
    "username",
    "domain",
    "file_name",
    "name",
    "client_id",
    "tracking_number",
    "url",
)
MAX_PEOPLE = 100
# Records that name one without a name.
MAX_JOINED = 3


def show_audit_log(request: HttpRequest, shared: dict[str, Any]) -> TemplateResponse:
    if not getattr(request.user, "is_operator", False):
        raise PermissionDenied
    choice, faults = _read_filter(request.GET)
    entries = read_log(choice, limit=ENTRIES_OF_A_PAGE + 1, after=_parse_place(request.GET.get("after", "")))
    page_entries = entries[:ENTRIES_OF_A_PAGE]
    filters = {name: value for name, value in request.GET.items() if value and name != "after"}
    context = {
        **shared,
        "title": _("Audit log"),
        "entries": _shown_entries(page_entries),
        "kinds": log_kinds(),
        "actions": {name: _(word) for name, word in WORDS.items()},
        "chosen": request.GET,
        "faults": faults,
        "is_filtered": bool(filters),
        "newest": f"?{urlencode(filters)}" if request.GET.get("after") else "",
        "older": _link_older(filters, page_entries) if len(entries) > len(page_entries) else "",
    }
    return TemplateResponse(request, "admin/audit_log.html", context)


def log_kinds() -> list[tuple[str, str]]:
    """Names and labels of all tracked models."""
    return sorted((_make_title(model), kind_of(model)) for model in event_models())


def _link_older(filters: dict[str, Any], entries: Sequence[LogEntry]) -> str:
    last = entries[-1].place
    return f"?{urlencode({**filters, 'after': f'{last.when.isoformat()}|{last.kind}|{last.key}'})}"


def _parse_place(text: str) -> LogPlace | None:
    """The position of a page link; None for an invalid one, which shows the newest entries."""
    when, _bar, place = text.partition("|")
    kind, _bar, key = place.partition("|")
    try:
        moment = parse_datetime(when)
    except ValueError:
        return None
    number = parse_number(key)
    if moment is None or not is_aware(moment) or number is None:
        return None
    return LogPlace(moment, kind, number)


def _read_filter(query: QueryDict) -> tuple[AuditFilter, list[str]]:
    faults: list[str] = []
    begins, ends = (_read_day(query, name, faults) for name in ("from", "to"))
    kinds = {kind_of(model) for model in event_models()}
    person, kind, action = (query.get(name, "").strip() for name in ("person", "kind", "action"))
    if kind and kind not in kinds:
        faults.append(_("Choose one of the kinds of object."))
    if action and action not in WORDS:
        faults.append(_("Choose one of the actions."))
    users = _find_people(person) if person else None
    if users == []:
        faults.append(
            _("There is no user with the name, e-mail or ID “%(person)s”.") % {"person": person[:100]}
        )
    log_filter = AuditFilter(
        users=users,
        kind=kind if kind in kinds else None,
        action=action if action in WORDS else None,
        begins=make_aware(datetime.combine(begins, time.min)) if begins else None,
        ends=make_aware(datetime.combine(ends + timedelta(days=1), time.min)) if ends else None,
        object_id=query.get("object", "").strip() or None,
    )
    return log_filter, faults


def _read_day(query: QueryDict, name: str, faults: list[str]) -> date | None:
    text = query.get(name, "").strip()
    try:
        day = parse_date(text) if text else None
    except ValueError:
        day = None
    if text and day is None:
        faults.append(_("“%(text)s” is not a date. Write it as 2026-01-31.") % {"text": text[:40]})
    # Years that can be converted to every time zone.
    return day if day is None or date.min.year < day.year < date.max.year else None


def _find_people(text: str) -> list[str]:
    """IDs of users by ID, name or e-mail; several tenants may have a user of the same name."""
    condition = Q(username__iexact=text) | Q(email__iexact=text)
    if parse_uuid(text):
        condition |= Q(pk=text)
    return [
        str(pk) for pk in get_user_model().objects.filter(condition).values_list("pk", flat=True)[:MAX_PEOPLE]
    ]


def _shown_entries(entries: Sequence[LogEntry]) -> list[dict[str, Any]]:
    people = names_of_people([entry.event for entry in entries])
    events = [event for entry in entries for event in (entry.event, entry.former) if event]
    records, codes = names_of_records(events), names_of_codes(events)
    return [_shown_entry(entry, people, records, codes) for entry in entries]


def _shown_entry(
    entry: LogEntry, people: dict[str, str], records: RecordNames, codes: CodeNames
) -> dict[str, Any]:
    event = entry.event
    # A deletion shows no values: the entry before has them.
    is_deletion = event.pgh_label == "delete"
    changes = [] if is_deletion else event_changes(event, entry.former, records, codes)
    return {
        **event_facts(event, people),
        "kind": _make_title(event),
        "name": _name_record(event, records),
        "page": "" if is_deletion else _page_of(event),
        "own_log": f"?{urlencode({'kind': entry.kind, 'object': event.pgh_obj_id})}",
        "changes": limit_changes(changes, remaining_title=_("More")),
    }


def _name_record(event: Any, records: RecordNames) -> str:
    """Names a record by a column of its own, else by the records that it joins, else its key."""
    if own := next((str(value) for column in NAMING if (value := getattr(event, column, None))), ""):
        return own
    joined = (records.get((model, key)) for model, key in _list_references(event))
    return " · ".join([name for name in joined if name][:MAX_JOINED]) or str(event.pgh_obj_id)


def _page_of(event: Any) -> str:
    """The URL of the record's page; for a part of another record, of that record's page."""
    places = [(event.pgh_tracked_model, event.pgh_obj_id), *_list_references(event)]
    return next((address for model, key in places if key and (address := _find_address(model, key))), "")


def _list_references(event: Any) -> list[tuple[type[Model], Any]]:
    fields = [field for field in tracked_fields(event) if field.related_model]
    return [(field.related_model, getattr(event, field.attname)) for field in fields]


def _find_address(model: type[Model], key: Any) -> str:
    opts = model._meta
    if not admin.site.is_registered(model):
        return ""
    try:
        return reverse(f"admin:{opts.app_label}_{opts.model_name}_change", args=[key])
    except NoReverseMatch:
        return ""


def _make_title(model: Any) -> str:
    return capfirst(str(model.pgh_tracked_model._meta.verbose_name))
