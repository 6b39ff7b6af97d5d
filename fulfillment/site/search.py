"""The console's search over all apps and console pages."""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from fulfillment.core.admin.search import CONTAINS, match_rank
from fulfillment.core.api.responses import preferred_type
from fulfillment.core.plugins import SearchResult, offered_values
from fulfillment.site.audit_log import log_kinds
from fulfillment.site.navigation import minor_pages, navigation_for

MAX_SHOWN = 20
# The longest search text.
MAX_LETTERS = 200


def find(request: HttpRequest, text: str) -> list[SearchResult]:
    """The results that the user may see, best first."""
    words = " ".join(text.split())
    if len(words) > MAX_LETTERS or not any(letter.isalnum() for letter in words):
        return []
    records = [hit for search in offered_values("console", "search") for hit in search(request, words)]
    return sorted([*_find_pages(request, words), *records], key=lambda hit: hit.rank)[:MAX_SHOWN]


def search_page(request: HttpRequest, shared: dict[str, Any]) -> HttpResponse:
    """JSON for the search box, a page for a browser without scripts."""
    text = request.GET.get("s", "")
    hits = find(request, text)
    if preferred_type(request, ["text/html", "application/json"]) == "application/json":
        records = [
            {"kind": hit.kind, "title": hit.title, "detail": hit.detail, "address": hit.address}
            for hit in hits
        ]
        response: HttpResponse = JsonResponse({"hits": records})
    else:
        title = _("Results for “%(text)s”") % {"text": text[:MAX_LETTERS]} if text.strip() else _("Search")
        context = {**shared, "title": title, "hits": hits, "searched": text.strip()}
        response = TemplateResponse(request, "admin/search.html", context)
    response["Vary"], response["Cache-Control"] = "Accept", "no-store"
    return response


def _find_pages(request: HttpRequest, words: str) -> list[SearchResult]:
    """Entries of the menu and of the page *System*; the audit log of one kind of object comes last."""
    hits = []
    for group in [*navigation_for(request), *minor_pages(request)]:
        for item in group["items"]:
            if words.casefold() in item["title"].casefold():
                rank = match_rank(words, item["title"])
                hits.append(SearchResult("Page", item["title"], group.get("title", ""), item["link"], rank))
    return [*hits, *_find_logs(request, words)]


def _find_logs(request: HttpRequest, words: str) -> list[SearchResult]:
    if not getattr(request.user, "is_operator", False):
        return []
    log, last = reverse("admin:audit_log"), CONTAINS + 1
    return [
        SearchResult(
            "Audit log", f"Changes of {name.lower()}", "", f"{log}?{urlencode({'kind': kind})}", last
        )
        for name, kind in log_kinds()
        if words.casefold() in name.casefold()
    ]
