"""The side bar of the console: the entries that apps offer, in groups."""

from itertools import groupby
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse

from fulfillment.core.admin.offers import Entry
from fulfillment.core.plugins import offered

OWN = [
    Entry("Service", "Background jobs", "pending_actions", "procrastinate.procrastinatejob", 520),
]


def navigation_for(request: HttpRequest) -> list[dict[str, Any]]:
    """What the signed-in person may open; the same rules that guard the pages decide."""
    start = {"title": "Start", "icon": "dashboard", "link": reverse("admin:index")}
    entries = [*OWN, *(entry for entries in offered("console", "NAVIGATION") for entry in entries)]
    open_to = [entry for entry in entries if _is_open(entry, request)]
    open_to.sort(key=lambda entry: entry.position)
    groups = groupby(open_to, key=lambda entry: entry.group)
    return [
        {"items": [start]},
        *({"title": name, "items": [_link(one) for one in group]} for name, group in groups),
    ]


def _is_open(entry: Entry, request: HttpRequest) -> bool:
    admins = {model._meta.label_lower: one for model, one in admin.site._registry.items()}  # noqa: SLF001
    return entry.model in admins and admins[entry.model].has_module_permission(request)


def _link(entry: Entry) -> dict[str, str]:
    address = reverse(f"admin:{entry.model.replace('.', '_')}_changelist")
    return {"title": entry.name, "icon": entry.icon, "link": address}
