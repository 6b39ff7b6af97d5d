"""The audit log page: who changed what and when, over all tracked models."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.contrib.auth import get_user_model
from django.core.exceptions import PermissionDenied
from django.db.models import DateTimeField, Model, Q
from django.http import HttpRequest, QueryDict
from django.template.response import TemplateResponse
from django.urls import NoReverseMatch, reverse
from django.utils.dateparse import parse_date, parse_datetime
from django.utils.timezone import is_aware, make_aware

from fulfillment.core.admin.history import HIDDEN, FieldChange, choice_label, first_changes, shown_value
from fulfillment.core.audit.events import WORDS
from fulfillment.core.audit.indexes import event_models
from fulfillment.core.audit.log import LogEntry, LogFilter, LogPlace, kind_of, read_log
from fulfillment.core.identifiers import parse_uuid

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
OWN_COLUMNS = "pgh_"
MAX_PEOPLE = 100
# Records that name one without a name.
MAX_JOINED = 3


@dataclass(frozen=True, slots=True)
class ShownEntry:
    when: datetime
    action: str
    kind: str
    name: str
    who: str
    through: str
    where: str
    page: str
    own_log: str
    changes: list[FieldChange]


def show_audit_log(request: HttpRequest, shared: dict[str, Any]) -> TemplateResponse:
    if not getattr(request.user, "is_operator", False):
        raise PermissionDenied
    chosen, faults = _filter(request.GET)
    entries = read_log(chosen, limit=ENTRIES_OF_A_PAGE + 1, after=_place(request.GET.get("after", "")))
    shown = entries[:ENTRIES_OF_A_PAGE]
    filters = {name: value for name, value in request.GET.items() if value and name != "after"}
    context = {
        **shared,
        "title": "Audit log",
        "entries": _shown(shown),
        "kinds": log_kinds(),
        "actions": WORDS,
        "chosen": request.GET,
        "faults": faults,
        "is_filtered": bool(filters),
        "newest": f"?{urlencode(filters)}" if request.GET.get("after") else "",
        "older": _older(filters, shown) if len(entries) > len(shown) else "",
    }
    return TemplateResponse(request, "admin/audit_log.html", context)


def log_kinds() -> list[tuple[str, str]]:
    """Names and labels of all tracked models."""
    return sorted((_title(model), kind_of(model)) for model in event_models())


def _older(filters: dict[str, Any], shown: Sequence[LogEntry]) -> str:
    last = shown[-1]
    return f"?{urlencode({**filters, 'after': f'{last.when.isoformat()}|{last.kind}|{last.key}'})}"


def _place(text: str) -> LogPlace | None:
    """The position of a page link; None for an invalid one, which shows the newest entries."""
    when, _, rest = text.partition("|")
    kind, _, key = rest.partition("|")
    try:
        moment = parse_datetime(when)
    except ValueError:
        return None
    if moment is None or not is_aware(moment) or not (key.isascii() and key.isdigit() and len(key) < 19):
        return None
    return LogPlace(moment, kind, int(key))


def _filter(sent: QueryDict) -> tuple[LogFilter, list[str]]:
    faults: list[str] = []
    begins, ends = (_day(sent, name, faults) for name in ("from", "to"))
    kinds = {kind_of(model) for model in event_models()}
    person, kind, action = (sent.get(name, "").strip() for name in ("person", "kind", "action"))
    if kind and kind not in kinds:
        faults.append("Choose one of the kinds of object.")
    if action and action not in WORDS:
        faults.append("Choose one of the actions.")
    users = _people(person) if person else None
    if users == []:
        faults.append(f"There is no user with the name, e-mail or ID “{person[:100]}”.")
    chosen = LogFilter(
        users=users,
        kind=kind if kind in kinds else None,
        action=action if action in WORDS else None,
        begins=make_aware(datetime.combine(begins, time.min)) if begins else None,
        ends=_end_of(ends) if ends else None,
        object_id=sent.get("object", "").strip() or None,
    )
    return chosen, faults


def _day(sent: QueryDict, name: str, faults: list[str]) -> date | None:
    text = sent.get(name, "").strip()
    try:
        found = parse_date(text) if text else None
    except ValueError:
        found = None
    if text and found is None:
        faults.append(f"“{text[:40]}” is not a date. Write it as 2026-01-31.")
    # Years that can be converted to every time zone.
    return found if found is None or date.min.year < found.year < date.max.year else None


def _end_of(day: date) -> datetime:
    return make_aware(datetime.combine(day + timedelta(days=1), time.min))


def _people(text: str) -> list[str]:
    """IDs of users by ID, name or e-mail; several tenants may have a user of the same name."""
    known = Q(username__iexact=text) | Q(email__iexact=text)
    if parse_uuid(text):
        known |= Q(pk=text)
    return [
        str(pk) for pk in get_user_model().objects.filter(known).values_list("pk", flat=True)[:MAX_PEOPLE]
    ]


def _shown(entries: Sequence[LogEntry]) -> list[ShownEntry]:
    models = {kind_of(model): model for model in event_models()}
    people = _names_of_people(entries)
    records = _names_of_records(entries, models)
    return [_shown_entry(entry, models[entry.kind], people, records) for entry in entries]


def _shown_entry(
    entry: LogEntry, model: Any, people: dict[str, str], records: dict[tuple[str, Any], str]
) -> ShownEntry:
    user = str(entry.context.get("user") or "")
    row = entry.after or {}
    return ShownEntry(
        when=entry.when,
        action=WORDS.get(entry.action, entry.action),
        kind=_title(model),
        name=_name(entry, model, records),
        who=people.get(user, user),
        through=str(entry.context.get("application") or ""),
        where=str(entry.context.get("url") or ""),
        page="" if entry.action == "delete" else _page_of(model, entry.object_id, row),
        own_log=f"?{urlencode({'kind': entry.kind, 'object': entry.object_id})}",
        changes=_changes(entry, model, records),
    )


def _name(entry: LogEntry, model: Any, records: dict[tuple[str, Any], str]) -> str:
    """By a column of its own, else by the records that it joins, else its key."""
    row = entry.after or {}
    if own := next((str(row[column]) for column in NAMING if row.get(column)), ""):
        return own
    joined = (records.get((field.attname, row.get(field.attname))) for field in _references(model))
    return " · ".join([name for name in joined if name][:MAX_JOINED]) or entry.object_id


def _page_of(model: Any, key: Any, row: dict[str, Any]) -> str:
    """The URL of the record's page; for a part of another record, of that record's page."""
    if address := _address(model.pgh_tracked_model, key):
        return address
    for field in _references(model):
        if row.get(field.attname) and (address := _address(field.related_model, row[field.attname])):
            return address
    return ""


def _address(model: type[Model], key: Any) -> str:
    opts = model._meta
    if model not in admin.site._registry:  # noqa: SLF001 - Django has no public method for it
        return ""
    try:
        return reverse(f"admin:{opts.app_label}_{opts.model_name}_change", args=[key])
    except NoReverseMatch:
        return ""


def _changes(entry: LogEntry, model: Any, records: dict[tuple[str, Any], str]) -> list[FieldChange]:
    """The changed columns; none for a deletion, whose last values are in the entry before."""
    if entry.action == "delete":
        return []
    before, after = entry.before or {}, entry.after or {}
    changes = []
    for field in model._meta.concrete_fields:
        name = field.attname
        if field.name.startswith(OWN_COLUMNS) or field.name in HIDDEN or name not in after:
            continue
        old, new = (_value(field, of.get(name), records) for of in (before, after))
        if old != new:
            changes.append((str(field.verbose_name), old, new))
    return first_changes(changes, rest="More")


def _value(field: Any, value: Any, records: dict[tuple[str, Any], str]) -> str:
    """The displayed value of a column given as JSON."""
    if isinstance(value, dict | list):
        return shown_value(value)
    if isinstance(field, DateTimeField) and isinstance(value, str):
        value = parse_datetime(value) or value
    return records.get((field.attname, value)) or choice_label(field, value) or shown_value(value)


def _names_of_people(entries: Iterable[LogEntry]) -> dict[str, str]:
    """User names by ID; a deleted one is shown by its ID."""
    ids = {str(entry.context.get("user") or "") for entry in entries} - {""}
    found = get_user_model().objects.filter(pk__in=[one for one in ids if parse_uuid(one)])
    return {str(pk): name for pk, name in found.values_list("pk", "username")}


def _names_of_records(entries: Sequence[LogEntry], models: dict[str, Any]) -> dict[tuple[str, Any], str]:
    """The labels of referenced records, by column and key; one query for each referenced model."""
    referred: dict[Any, set[tuple[str, Any]]] = {}
    for entry in entries:
        for field in _references(models[entry.kind]):
            for row in (entry.before, entry.after):
                if row and row.get(field.attname) is not None:
                    referred.setdefault(field.related_model, set()).add((field.attname, row[field.attname]))
    known: dict[tuple[str, Any], str] = {}
    for model, pairs in referred.items():
        if model in admin.site._registry:  # noqa: SLF001 - as above
            found = _titled(model, {key for _, key in pairs})
            known |= {(name, key): found[str(key)] for name, key in pairs if str(key) in found}
    return known


def _titled(model: Any, keys: set[Any]) -> dict[str, str]:
    referred = getattr(admin.site._registry[model], "list_select_related", None)  # noqa: SLF001 - as above
    records = model._base_manager.filter(pk__in=keys)  # noqa: SLF001 - past managers that hide rows
    if isinstance(referred, list | tuple):
        records = records.select_related(*referred)
    return {str(record.pk): str(record) for record in records}


def _references(model: Any) -> list[Any]:
    fields = model._meta.concrete_fields
    return [field for field in fields if field.related_model and not field.name.startswith(OWN_COLUMNS)]


def _title(model: Any) -> str:
    return str(model.pgh_tracked_model._meta.verbose_name).capitalize()
