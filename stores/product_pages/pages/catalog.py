"""The stores a user may order from, with their logos and products."""

import orjson
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from accounts.pages.guards import signed_in_page, signed_in_user
from applications.registration.selectors.applications import chosen_actor
from fulfillment.core.files.downloads import picture_response, serves_picture
from stores.catalog.models import StoreProfile
from stores.catalog.services.thumbnails import draw_thumbnail
from stores.product_pages.selectors import (
    actors_at,
    categories_of,
    products_on_sale,
    store_named,
    usable_stores,
)
from stores.proofs.selectors import product_version

STORES_A_PAGE = 24
PRODUCTS_A_PAGE = 24


@signed_in_page
def show_catalog(request: HttpRequest) -> HttpResponse:
    searched = request.GET.get("q", "").strip()[:200]
    stores = usable_stores(signed_in_user(request))
    if searched:
        stores = stores.filter(company_name__icontains=searched)
    page = Paginator(stores, STORES_A_PAGE).get_page(request.GET.get("page"))
    context = {"page": page, "searched": searched, "part": "catalog"}
    return render(request, "stores/product_pages/catalog.html", context)


@signed_in_page
def show_store(request: HttpRequest, store_id: str) -> HttpResponse:
    store = store_named(store_id)
    actors = actors_at(signed_in_user(request), store)
    actor = chosen_actor(actors, request.GET.get("as", ""))
    searched = request.GET.get("q", "").strip()[:200]
    category = request.GET.get("category", "")
    products = products_on_sale(actor.caller, store_id, searched=searched, category=category)
    page = Paginator(products.values_list("verbose_rendering", flat=True), PRODUCTS_A_PAGE).get_page(
        request.GET.get("page")
    )
    # Only the products of this page: a large catalog takes seconds to parse, in which the process does nothing else.
    page.object_list = [orjson.loads(rendering) for rendering in page.object_list]
    context = {
        "store": store,
        "actor": actor,
        "page": page,
        "categories": categories_of(products_on_sale(actor.caller, store_id)),
        "category": category,
        "searched": searched,
        "is_filtered": bool(searched or category),
        "part": "catalog",
    }
    return render(request, "stores/product_pages/store.html", context)


@serves_picture
@signed_in_page
def show_thumbnail(request: HttpRequest, store_id: str, product_id: str) -> HttpResponse:
    """The template with example values."""
    store = store_named(store_id)
    actor = chosen_actor(actors_at(signed_in_user(request), store), request.GET.get("as", ""))
    product = product_version(actor.caller, store.external_id, product_id)
    return picture_response(
        lambda: draw_thumbnail(product_id=product.pk, version=product.version, caller=actor.caller),
        "image/webp",
    )


@serves_picture
@require_safe
@cache_control(public=True, immutable=True, max_age=31_536_000)
def serve_logo(request: HttpRequest, sha256: str) -> HttpResponse:
    """The URL contains the content's hash, so browsers may cache it forever."""
    content = StoreProfile.objects.filter(logo_sha256=sha256).values_list("logo", flat=True).first()
    if content is None:
        raise Http404(_("There is no logo at this address."))
    return HttpResponse(bytes(content), content_type="image/png")
