"""Every page that accepts POST, and every action of a list, is declared dangerous or harmless."""

import re
from collections.abc import Iterator
from inspect import signature
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory
from django.urls import URLResolver, get_resolver, path, reverse

from fulfillment.core.http.addresses import is_for_programs
from fulfillment.core.http.dangerous import Declared, dangerous, effect_of, get_declaration, harmless
from tests.support.accounts.oauth_flows import Party
from tests.support.browser.console_pages import request_of
from tests.support.scenario import World

DOCUMENTED = re.compile(r"^\| ([A-Z][^|]+?) \| (portal|console|portal, console) \|$", re.MULTILINE)


def pages(patterns: Any = None, before: str = "/") -> Iterator[tuple[str, Any]]:
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        route = before + str(pattern.pattern).lstrip("^")
        if isinstance(pattern, URLResolver):
            yield from pages(pattern.url_patterns, route)
        elif not is_for_programs(route):
            yield route, pattern.callback


def accepts_post(view: Any) -> bool:
    """As its decorators say (`require_safe` and others), or its class; a function without any accepts everything."""
    while view is not None:
        free = getattr(getattr(view, "__code__", None), "co_freevars", ())
        if "request_method_list" in free:
            return "POST" in view.__closure__[free.index("request_method_list")].cell_contents
        if of_class := getattr(view, "view_class", None):
            return hasattr(of_class, "post")
        view = getattr(view, "__wrapped__", None)
    return True


def undeclared(patterns: Any = None) -> set[str]:
    return {
        route
        for route, view in pages(patterns)
        if accepts_post(view) and not isinstance(get_declaration(view), Declared)
    }


def list_actions(user: Any) -> Iterator[tuple[str, str]]:
    request = request_of(user)
    request.GET = {}
    for model, model_admin in admin.site._registry.items():
        for name in model_admin.get_actions(request):
            yield f"{model._meta.label} {name}", model_admin.effect_of_action(name)


def test_every_post_of_a_page_is_declared_dangerous_or_harmless():
    """Where this fails, a page was added: mark it with `dangerous` or `harmless`, or name it in its admin."""
    assert len(list(pages())) > 250
    assert undeclared() == set()


def test_page_that_declares_nothing_is_found_and_needs_a_confirmation():
    def view(request: HttpRequest) -> HttpResponse:
        return HttpResponse()

    assert undeclared([path("new", view)]) == {"/new"}
    assert effect_of(view, RequestFactory().post("/new"), {}) == "Continue"
    assert effect_of(view, RequestFactory().get("/new"), {}) == ""


def test_every_action_of_a_list_is_declared(world):
    effects = dict(list_actions(world.operator))

    assert len(effects) > 30
    assert {name for name, effect in effects.items() if effect in {"Continue", "Delete"}} == set()


def test_a_mark_stays_through_decorators_and_the_guard_of_the_console():
    for name, args in (
        ("admin:accounts_role_add", ()),
        ("admin:auth_user_password_change", ("1",)),
        ("admin:applications_application_add_key", ("00000000-0000-0000-0000-000000000000",)),
        ("portal:webhook-secret", ("a", "b")),
        ("password_change", ()),
    ):
        match = get_resolver().resolve(reverse(name, args=args))
        assert effect_of(match.func, RequestFactory().post("/"), match.kwargs), name


def test_effect_is_a_text_for_writes_or_a_function_of_the_request():
    def view(request: HttpRequest) -> HttpResponse:
        return HttpResponse()

    read, write = RequestFactory().get("/"), RequestFactory().post("/")
    for mark, expected in (
        (harmless, ("", "")),
        (dangerous("Do it"), ("", "Do it")),
        (dangerous("Do it", asks_first=True), ("Do it", "Do it")),
        (dangerous(lambda request: f"By {request.method}"), ("By GET", "By POST")),
    ):
        assert (effect_of(mark(view), read, {}), effect_of(mark(view), write, {})) == expected


def test_documentation_lists_the_dangerous_actions(world):
    """Where this fails, write the table of docs/access.md again from the message."""
    effects: dict[str, set[str]] = {}
    for route, view in pages():
        place = "console" if route.startswith("/admin/") else "portal"
        for effect in _effects(view, world):
            effects.setdefault(effect, set()).add(place)
    for _, effect in list_actions(world.operator):
        if effect:
            effects.setdefault(effect, set()).add("console")
    rows = {(effect, ", ".join(sorted(places, reverse=True))) for effect, places in effects.items()}
    text = Path(settings.BASE_DIR, "docs/access.md").read_text()

    expected = "\n".join(f"| {effect} | {places} |" for effect, places in sorted(rows))
    assert set(DOCUMENTED.findall(text)) == rows, expected


def _effects(view: Any, world: World) -> set[str]:
    effect = getattr(get_declaration(view), "effect", "")
    if not callable(effect):
        return {str(effect)} - {""}
    requests = [RequestFactory().post("/"), RequestFactory().get("/?reveal=1&fill=1")]
    asked = Party(world.application).request(scope="Account")
    requests.append(RequestFactory().get("/oauth/authorize", asked))
    effects = set()
    for request in requests:
        takes_operation = "operation_id" in signature(effect).parameters
        effects |= {effect(request, **({"operation_id": "application_create"} if takes_operation else {}))}
    return effects - {""}
