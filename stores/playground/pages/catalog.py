"""The stores a user may order from, and their products."""

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.pages.guards import signed_in, signed_in_user
from applications.registration.selectors.applications import chosen_actor
from fulfillment.core.files.downloads import picture_response, serves_picture
from stores.catalog.services.thumbnails import draw_thumbnail
from stores.playground.selectors import (
    actors_at,
    product_records,
    store_named,
    usable_stores,
)
from stores.proofs.selectors import product_version

STORES_A_PAGE = 24
PRODUCTS_A_PAGE = 24


@require_safe
@signed_in
def show_catalog(request: HttpRequest) -> HttpResponse:
    searched = request.GET.get("q", "").strip()[:200]
    stores = usable_stores(signed_in_user(request))
    if searched:
        stores = stores.filter(company_name__icontains=searched)
    page = Paginator(stores, STORES_A_PAGE).get_page(request.GET.get("page"))
    context = {"page": page, "searched": searched, "part": "catalog"}
    return render(request, "stores/playground/catalog.html", context)


@require_safe
@signed_in
def show_store(request: HttpRequest, store_id: str) -> HttpResponse:
    store = store_named(store_id)
    actors = actors_at(signed_in_user(request), store)
    actor = chosen_actor(actors, request.GET.get("as", ""))
    products = product_records(actor.caller, store.external_id)
    categories = sorted({one["Category"] for one in products if one["Category"]})
    searched = request.GET.get("q", "").strip()[:200]
    category = request.GET.get("category", "")
    shown = [one for one in products if _matches(one, searched, category)]
    context = {
        "store": store,
        "actor": actor,
        "page": Paginator(shown, PRODUCTS_A_PAGE).get_page(request.GET.get("page")),
        "categories": categories,
        "category": category,
        "searched": searched,
        "is_filtered": bool(searched or category),
        "part": "catalog",
    }
    return render(request, "stores/playground/store.html", context)


@serves_picture
@require_safe
@signed_in
def show_thumbnail(request: HttpRequest, store_id: str, product_id: str) -> HttpResponse:
    """The template with example values."""
    store = store_named(store_id)
    actor = chosen_actor(actors_at(signed_in_user(request), store), request.GET.get("as", ""))
    product = product_version(actor.caller, store.external_id, product_id)
    return picture_response(
        lambda: draw_thumbnail(product_id=product.pk, version=product.version, caller=actor.caller),
        "image/webp",
    )


def _matches(record: dict[str, Any], searched: str, category: str) -> bool:
    if category and record["Category"] != category:
        return False
    text = f"{record['Name']} {record['ID']} {record['Category']}".casefold()
    return all(word in text for word in searched.casefold().split())
