"""The API reference at /api/v1/docs: pages of our own from the OpenAPI document, readable without script."""

from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from fulfillment.core.api.schema import schema_document
from fulfillment.core.reference.guides import guides
from fulfillment.core.reference.markdown import rendered
from fulfillment.core.reference.operations import events, groups, operations
from fulfillment.core.reference.problems import problems
from fulfillment.core.reference.search import found


@require_safe
def show_start(request: HttpRequest) -> HttpResponse:
    about = rendered(schema_document()["info"]["description"])
    return _page(request, "reference/start.html", about=about, here="start", public_url=settings.PUBLIC_URL)


@require_safe
def show_operation(request: HttpRequest, operation_id: str) -> HttpResponse:
    operation = operations().get(operation_id)
    if operation is None:
        raise Http404(f"There is no operation {operation_id[:80]}. The list beside has all of them.")
    leads_to = [operations()[name] for name in operation.leads_to if name != operation_id]
    return _page(
        request, "reference/operation.html", operation=operation, leads_to=leads_to, here=operation.url
    )


@require_safe
def show_events(request: HttpRequest) -> HttpResponse:
    return _page(request, "reference/events.html", here="events")


@require_safe
def show_event(request: HttpRequest, name: str) -> HttpResponse:
    event = events().get(name)
    if event is None:
        raise Http404(f"There is no event {name[:80]}.")
    return _page(request, "reference/event.html", event=event, here=event.url)


@require_safe
def show_guide(request: HttpRequest, slug: str) -> HttpResponse:
    guide = guides().get(slug)
    if guide is None:
        raise Http404(f"There is no guide {slug[:80]}.")
    return _page(request, "reference/guide.html", guide=guide, here=guide.url)


@require_safe
def show_problem(request: HttpRequest, code: str) -> HttpResponse:
    """The page at the `type` of a problem body."""
    found = problems().get(code)
    if found is None:
        raise Http404(f"There is no error code {code[:80]}.")
    return _page(request, "reference/problem.html", problem=found, here=guides()["errors"].url)


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    words = request.GET.get("q", "").strip()
    return _page(request, "reference/search.html", words=words, hits=found(words), here="search")


def _page(request: HttpRequest, template: str, **context: Any) -> HttpResponse:
    return render(request, template, {**navigation(), **context})


def navigation() -> dict[str, Any]:
    """The navigation of the reference pages."""
    return {
        "part": "reference",
        "groups": groups(),
        "guides": guides().values(),
        "events": events().values(),
    }
