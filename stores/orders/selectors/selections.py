"""EDDM selections that items name, products for EDDM with their prices, and the routes of an item on a map."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any
from uuid import UUID

import orjson
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.callers import Caller, usable_in_mode
from delivery.datasets.selectors import live_dataset
from delivery.selection.models import EddmSelection, EddmSelectionRoute
from delivery.selection.selectors.selections import shapes_by_code, visible_selections
from fulfillment.core.errors import Invalid
from fulfillment.core.text import JsonObject, parse_uuid
from stores.catalog.models import Product, Store
from stores.orders.eddm import MAX_ROUTES, ROUTE, RequestedSelection, drop_routes, stored_record
from stores.orders.models import OrderItem
from stores.orders.requests import PriceRequest, PriceRequestItem
from stores.orders.selectors.access import WRITE, authorize_store
from stores.orders.selectors.quotes import ordered_products, price_items

UNKNOWN = ("eddm_selection_unknown", gettext_lazy("there is no such EDDM selection of yours."))
COLUMNS = ("external_id", "name", "minimum_quantity", "maximum_quantity")


def resolve_selections(
    caller: Caller, price_request: PriceRequest, *, includes_expired: bool = False
) -> PriceRequest:
    """The request with the pieces of each selection as the quantity; `includes_expired` is for earlier quotes."""
    to_resolve = [item.eddm for item in price_request.items if item.eddm and item.eddm.stored is None]
    if not to_resolve:
        return price_request
    selections = _find_selections(caller, {requested.selection_id for requested in to_resolve})
    items = []
    routes = 0
    for item in price_request.items:
        if item.eddm is not None and item.eddm.stored is None:
            requested = _resolve_selection(
                item.eddm, selections.get(item.eddm.selection_id), includes_expired=includes_expired
            )
            routes += requested.route_count
            if routes > MAX_ROUTES:
                message = _(
                    "all items together have at most %(max_routes)s routes; order this one separately."
                ) % {"max_routes": number_format(MAX_ROUTES, force_grouping=True)}
                requested = replace(requested, problem=("too_many_routes", message))
            item = replace(item, eddm=requested, quantity=requested.pieces)
        items.append(item)
    return replace(price_request, items=tuple(items))


def stored_selections(requests: Iterable[RequestedSelection | None]) -> list[JsonObject | None]:
    """The copies that an order stores of its selections, in their order; each selection is read once."""
    records: dict[UUID, JsonObject] = {}
    stored: list[JsonObject | None] = []
    for requested in requests:
        if requested is None or requested.selection is None:
            stored.append(dict(requested.stored) if requested and requested.stored else None)
            continue
        selection = requested.selection
        if selection.pk not in records:
            routes = EddmSelectionRoute.objects.filter(selection=selection).order_by("position")
            records[selection.pk] = stored_record(selection, routes.values_list(*ROUTE))
        stored.append(records[selection.pk])
    return stored


def _find_selections(caller: Caller, selection_ids: Iterable[str]) -> dict[str, EddmSelection]:
    """Selections by their IDs as they were sent."""
    keys = {text: key for text in selection_ids if (key := parse_uuid(text))}
    scope = visible_selections(caller) & usable_in_mode(caller)
    selections = EddmSelection.objects.filter(scope).defer("criteria").in_bulk(keys.values()) if keys else {}
    return {text: selections[key] for text, key in keys.items() if key in selections}


def _resolve_selection(
    requested: RequestedSelection, selection: EddmSelection | None, *, includes_expired: bool
) -> RequestedSelection:
    if selection is None:
        return replace(requested, problem=(UNKNOWN[0], str(UNKNOWN[1])))
    if not includes_expired and selection.expires <= timezone.now():
        message = _("the selection expired at %(expires)s UTC; make a new one.") % {
            "expires": f"{selection.expires:%Y-%m-%d %H:%M}"
        }
        return replace(requested, problem=("eddm_selection_expired", message))
    return replace(requested, pieces=selection.pieces, selection=selection)


def unit_price(
    caller: Caller, *, store_id: str, product_id: str, delivery_method_code: str | None
) -> Decimal:
    """Delivered, in the store's currency, as an order of it would be priced."""
    access = authorize_store(caller, store_id, WRITE)
    item = PriceRequestItem("1", product_id, 0)
    request = PriceRequest((item,), "US", delivery_method_code=delivery_method_code)
    products = ordered_products(access=access, price_request=request)
    product = products.get(product_id)
    if product is None:
        message = f"ProductID: {store_id} has no product {product_id}."
        raise Invalid.at("/Budget/ProductID", "product_unknown", message)
    request = replace(request, items=(replace(item, quantity=product.minimum_quantity),))
    try:
        prices = price_items(access=access, price_request=request, products=products)
        return prices.default_option(products).lines[0].unit_price
    except Invalid as refusal:
        member = "DeliveryMethodCode" if delivery_method_code else "ProductID"
        raise Invalid.at(f"/Budget/{member}", refusal.code, refusal.message) from refusal


@dataclass(frozen=True, slots=True)
class MailingProduct:
    """A product for a choice on a page; `price` is that of one piece with the usual delivery method.

    `page` is where it is quoted and ordered.
    """

    key: str
    name: str
    price: Decimal
    currency: str
    page: str
    least: int
    most: int


def mailing_product(caller: Caller, *, store: Store, product: Product) -> MailingProduct:
    """Needs COLUMNS of the product; raises the refusals of `unit_price`."""
    unit = unit_price(
        caller, store_id=store.external_id, product_id=product.external_id, delivery_method_code=None
    )
    return MailingProduct(
        key=f"{store.external_id}/{product.external_id}",
        name=f"{product.name}, {store.company_name}",
        price=unit,
        currency=store.currency,
        page=reverse("portal:product", args=[store.external_id, product.external_id]),
        least=product.minimum_quantity,
        most=product.maximum_quantity,
    )


def routes_on_map(item: OrderItem) -> bytes:
    """The routes that were ordered as GeoJSON: of the data set they were chosen from, else of the active one.

    The shape of one that is in neither is null; the pieces are those of the order.
    """
    stored: dict[str, Any] = item.eddm or {}
    routes = {route.postal_code + route.carrier_route: route for route in drop_routes(stored)}
    chosen_from = EddmSelection.objects.filter(pk=stored["SelectionID"]).values_list("dataset", flat=True)
    live = live_dataset()
    shapes: dict[str, str] = {}
    for dataset_id in dict.fromkeys([*chosen_from, *([live.pk] if live else [])]):
        missing = routes.keys() - shapes.keys()
        if missing:
            shapes |= shapes_by_code(dataset_id, missing)
    features = [
        {
            "type": "Feature",
            "id": code,
            "geometry": orjson.Fragment(shapes[code]) if code in shapes else None,
            "properties": {"Pieces": route.pieces},
        }
        for code, route in routes.items()
    ]
    return orjson.dumps({"type": "FeatureCollection", "features": features})
