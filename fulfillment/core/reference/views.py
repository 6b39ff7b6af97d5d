"""The API reference at /api/v1/docs: pages of our own from the OpenAPI document, readable without script."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from fulfillment.core.api.responses import preferred_type
from fulfillment.core.api.schema import schema_document
from fulfillment.core.reference.guides import changes, guides, render_markdown
from fulfillment.core.reference.operations import events, groups, operations
from fulfillment.core.reference.plain import (
    catalog_text,
    event_text,
    feed_text,
    guide_text,
    index_text,
    operation_text,
    problem_text,
    whole_text,
)
from fulfillment.core.reference.problems import problems
from fulfillment.core.reference.search import EMPTY_WORDS, find_entries

MARKDOWN = "text/markdown; charset=utf-8"


@require_safe
def show_start(request: HttpRequest) -> HttpResponse:
    about = render_markdown(schema_document()["info"]["description"])
    context = {"about": about, "here": "start", "public_url": settings.PUBLIC_URL}
    return _render_page(request, "reference/start.html", index_text, **context)


@require_safe
def show_operation(request: HttpRequest, operation_id: str) -> HttpResponse:
    operation = operations().get(operation_id.removesuffix(".md"))
    if operation is None:
        raise Http404(f"There is no operation {operation_id[:80]}. The API reference lists all of them.")
    leads_to = [operations()[name] for name in operation.leads_to if name != operation_id]
    context = {"operation": operation, "leads_to": leads_to, "here": operation.url}
    return _render_page(request, "reference/operation.html", partial(operation_text, operation), **context)


@require_safe
def show_events(request: HttpRequest) -> HttpResponse:
    return _render_page(request, "reference/events.html", index_text, here="events")


@require_safe
def show_event(request: HttpRequest, name: str) -> HttpResponse:
    event = events().get(name.removesuffix(".md"))
    if event is None:
        raise Http404(f"There is no event {name[:80]}.")
    return _render_page(
        request, "reference/event.html", partial(event_text, event), event=event, here=event.url
    )


@require_safe
def show_guide(request: HttpRequest, slug: str) -> HttpResponse:
    name = slug.removesuffix(".md")
    guide = changes() if name == "changes" else guides().get(name)
    if guide is None:
        raise Http404(f"There is no guide {slug[:80]}.")
    return _render_page(
        request, "reference/guide.html", partial(guide_text, guide), guide=guide, here=guide.url
    )


@require_safe
def show_problem(request: HttpRequest, code: str) -> HttpResponse:
    """The page at the `type` of a problem body."""
    problem = problems().get(code.removesuffix(".md"))
    if problem is None:
        raise Http404(f"There is no error code {code[:80]}.")
    context = {"problem": problem, "here": guides()["errors"].url}
    return _render_page(request, "reference/problem.html", partial(problem_text, problem), **context)


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    words = request.GET.get("q", "").strip()
    context = {**navigation(), "words": words, "hits": find_entries(words), "here": "search"}
    return render(request, "reference/search.html", context)


def _text_view(
    text: Callable[[], str], content_type: str = MARKDOWN
) -> Callable[[HttpRequest], HttpResponse]:
    """A view of one text."""
    return require_safe(lambda request: HttpResponse(text(), content_type=content_type))


show_index, show_whole = _text_view(index_text), _text_view(whole_text)
show_feed = _text_view(feed_text, "application/atom+xml; charset=utf-8")
show_catalog = _text_view(
    catalog_text, 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'
)


def _render_page(
    request: HttpRequest, template: str, text: Callable[[], str], **context: Any
) -> HttpResponse:
    """HTML; Markdown at the address with `.md`, and for an `Accept` header that prefers it."""
    preferred = preferred_type(request, ["text/html", "text/markdown"])
    if request.path_info.endswith(".md") or preferred == "text/markdown":
        response = HttpResponse(text(), content_type=MARKDOWN)
    else:
        response = render(request, template, {**navigation(), "has_text": True, **context})
    patch_vary_headers(response, ["Accept"])
    return response


def navigation() -> dict[str, Any]:
    """The navigation of the reference pages."""
    return {
        "part": "reference",
        "groups": groups(),
        "guides": guides().values(),
        "events": events().values(),
        "empty_words": EMPTY_WORDS,
    }


# Below /api/v1/docs.
PAGES = [
    path("", show_start, name="start"),
    path("/operations/<str:operation_id>", show_operation, name="operation"),
    path("/events", show_events, name="events"),
    path("/events/<str:name>", show_event, name="event"),
    path("/guides/<str:slug>", show_guide, name="guide"),
    path("/errors/<str:code>", show_problem, name="problem"),
    path("/search", search, name="search"),
]
