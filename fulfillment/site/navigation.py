"""The side bar of the console, from the entries of apps, and the page *System* for rare ones."""

from functools import cache
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from fulfillment.core.plugins import MenuItem, offered_values

OWN = [
    MenuItem(
        _("System"),
        _("Background jobs"),
        "pending_actions",
        "procrastinate.procrastinatejob",
        620,
        minor=True,
    ),
]
# By model: what the list is for, on the page *System*.
OWN_ABOUT = {
    "procrastinate.procrastinatejob": _("Work that waits, runs or failed in the background."),
}
# The most entries of the menu, including Start, the audit log and System.
MAX_ENTRIES = 14
SYSTEM = _("System")


def translate_titles(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Translates titles, by which groups and entries know each other, in the language of the page."""
    translated = []
    for item in items:
        children = {"items": translate_titles(item["items"])} if "items" in item else {}
        translated.append(
            {**item, **({"title": gettext(item["title"])} if "title" in item else {}), **children}
        )
    return translated


def navigation_for(request: HttpRequest) -> list[dict[str, Any]]:
    """The entries that the signed-in user may open, by the access rules of the pages."""
    start = {"title": _("Start"), "icon": "dashboard", "link": reverse("admin:index")}
    entries = _open_entries(request)
    every = _without_tabs(entries)
    fitting = every if _fits(request, entries) else [entry for entry in entries if not entry.minor]
    own = _own_items(request, is_whole=fitting == every)
    groups = [group for group in _groups_of(fitting) if group["title"] != SYSTEM]
    system = [
        item for group in _groups_of(fitting) if group["title"] == SYSTEM for item in group["items"]
    ] + own
    _mark_leading(request, entries, groups)
    last = [{"title": SYSTEM, "items": system}] if system else []
    return translate_titles([{"items": [start]}, *groups, *last])


def _mark_leading(request: HttpRequest, entries: list[MenuItem], groups: list[dict[str, Any]]) -> None:
    """Marks the entry whose group has the list that is open, where that list has no entry of its own."""
    items = {item["title"]: item for group in groups for item in group["items"]}
    for entry in entries:
        if (
            entry.name not in items
            and entry.group in items
            and request.path.startswith(_make_link(entry)["link"])
        ):
            items[entry.group]["active"] = True


def minor_pages(request: HttpRequest) -> list[dict[str, Any]]:
    """The entries shown on the page *System*: not those that are tabs of another; none if all fit into the menu."""
    entries = _open_entries(request)
    minor = [entry for entry in _without_tabs(entries) if entry.minor]
    return [] if _fits(request, entries) else _groups_of(minor)


def _without_tabs(entries: list[MenuItem]) -> list[MenuItem]:
    """Minor lists in a group with the name of an entry are tabs of its page."""
    names = {entry.name for entry in entries}
    return [entry for entry in entries if not (entry.minor and entry.group in names)]


def tabs_for(request: HttpRequest) -> list[dict[str, Any]]:
    """The lists of a group that has the name of an entry, as tabs of each other."""
    entries = _open_entries(request)
    names = {entry.group for entry in entries} & {entry.name for entry in entries}
    tabs = []
    for name in names:
        members = [entry for entry in entries if name in {entry.name, entry.group}]
        items = [
            {
                **_make_link(member),
                "has_permission": True,
                "active": request.path.startswith(_make_link(member)["link"]),
            }
            for member in members
        ]
        tabs.append({"models": [member.model for member in members], "items": translate_titles(items)})
    return tabs


def show_system(request: HttpRequest, shared: dict[str, Any]) -> TemplateResponse:
    pages = sorted(minor_pages(request), key=lambda group: bool(group["title"] == SYSTEM))
    groups = [
        {"title": gettext(group["title"]), "items_shown": translate_titles(group["items"])} for group in pages
    ]
    if not groups:
        raise PermissionDenied
    return TemplateResponse(
        request, "admin/system.html", {**shared, "title": gettext(SYSTEM), "groups": groups}
    )


def _open_entries(request: HttpRequest) -> list[MenuItem]:
    entries = [*OWN, *(entry for entries in offered_values("console", "NAVIGATION") for entry in entries)]
    admins = {model._meta.label_lower: model_admin for model, model_admin in admin.site._registry.items()}  # noqa: SLF001
    open_entries = [
        item for item in entries if item.model in admins and admins[item.model].has_module_permission(request)
    ]
    return sorted(open_entries, key=lambda entry: entry.position)


def _fits(request: HttpRequest, entries: list[MenuItem]) -> bool:
    return len(entries) + 1 + len(_own_items(request, is_whole=True)) <= MAX_ENTRIES


def _own_items(request: HttpRequest, *, is_whole: bool) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if getattr(request.user, "is_operator", False):
        items.append({"title": _("Audit log"), "icon": "history", "link": reverse("admin:audit_log")})
    if not is_whole:
        # Marked on each page that it leads to, which have no entry of their own.
        minor = [item for item in _without_tabs(_open_entries(request)) if item.minor]
        pages = [reverse("admin:system"), *(_make_link(entry)["link"] for entry in minor)]
        is_here = request.path.startswith(tuple(pages))
        items.append({"title": SYSTEM, "icon": "tune", "link": pages[0], "active": is_here})
    return items


def _groups_of(entries: list[MenuItem]) -> list[dict[str, Any]]:
    """The entries by the name of their group, where its first entry stands; entries of several apps may share one."""
    groups: dict[str, list[dict[str, str]]] = {}
    for entry in entries:
        groups.setdefault(entry.group, []).append(_make_link(entry))
    return [{"title": name, "items": items} for name, items in groups.items()]


@cache
def _collect_about() -> dict[str, str]:
    return {
        model: text
        for texts in (OWN_ABOUT, *offered_values("console", "ABOUT"))
        for model, text in texts.items()
    }


@cache
def _find_address(model: str) -> str:
    """Each page asks some 70 times, in several passes over its entries."""
    return reverse(f"admin:{model.replace('.', '_')}_changelist")


def _make_link(entry: MenuItem) -> dict[str, str]:
    return {
        "title": entry.name,
        "icon": entry.icon,
        "link": _find_address(entry.model),
        "about": gettext(_collect_about().get(entry.model, "")),
    }
