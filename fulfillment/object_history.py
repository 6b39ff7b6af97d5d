"""The audit trail of one record as a page: who changed what, when, and through which address."""

from collections.abc import Iterable
from typing import Any

from django.contrib.auth import get_user_model
from django.core.paginator import Paginator
from django.http import HttpRequest
from django.template.response import TemplateResponse

EVENTS_OF_A_PAGE = 25
OWN_FIELDS = "pgh_"
WORDS = {"insert": "Made", "update": "Changed", "delete": "Deleted"}


def history_page(model_admin: Any, request: HttpRequest, record: Any) -> TemplateResponse:
    events = record.pgh_event_model.objects.filter(pgh_obj=record.pk).order_by("-pgh_id")
    pages = Paginator(events.select_related("pgh_context"), EVENTS_OF_A_PAGE)
    page = pages.get_page(request.GET.get("p"))
    shown = list(page.object_list)
    # What the oldest event of this page changed is told by the one before it.
    before = list(events.filter(pgh_id__lt=shown[-1].pgh_id)[:1]) if shown else []
    context = {
        **model_admin.admin_site.each_context(request),
        "opts": model_admin.model._meta,  # noqa: SLF001 - Django's documented API in spite of its name
        "original": record,
        "title": f"History of {record}",
        "page": page,
        "trail": list(_told([*shown, *before], len(shown), _names(shown))),
    }
    return TemplateResponse(request, "admin/object_trail.html", context)


def _told(events: list[Any], count: int, names: dict[str, str]) -> Iterable[dict[str, Any]]:
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
            "changes": _changes(event, former),
        }


def _changes(event: Any, former: Any) -> list[tuple[str, str, str]]:
    fields = [
        field
        for field in event._meta.concrete_fields  # noqa: SLF001 - as above
        if not field.name.startswith(OWN_FIELDS) and field.name not in {"id", "updated"}
    ]
    pairs = [
        (
            str(field.verbose_name),
            "" if former is None else _shown(getattr(former, field.attname)),
            _shown(getattr(event, field.attname)),
        )
        for field in fields
    ]
    return [pair for pair in pairs if pair[1] != pair[2]]


def _shown(value: Any) -> str:
    if value is None or value == "" or value == []:
        return ""
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= 400 else f"{text[:397]} …"


def _names(events: list[Any]) -> dict[str, str]:
    """People by their ID; who is gone is named by it."""
    ids = {str(event.pgh_context.metadata.get("user") or "") for event in events if event.pgh_context}
    users = get_user_model().objects.filter(pk__in=[one for one in ids if one])
    return {str(pk): name for pk, name in users.values_list("pk", "username")}
