"""The rules for prices and delivery dates, without database access."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from operator import mul

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from fulfillment.core.errors import Fault, Invalid, collecting_faults, raise_faults
from fulfillment.core.text import MAX_INTEGER
from stores.catalog.models.product import LocationType
from stores.orders.business_days import add_business_days, transit_days
from stores.orders.requests import ListedProduct, Price, PriceRequest, Speed, item_faults

# The limit of an order's columns for amounts.
TOTAL_LIMIT = Decimal(10) ** 12
MAX_LISTED = 20
# Options of one quote.
MAX_OPTIONS = 500
# Returns the served destinations of products, by product ID.
PlacesServed = Callable[[Sequence[str]], Mapping[str, Sequence[str]]]


@dataclass(frozen=True, slots=True)
class Line:
    item_key: str
    product_id: str
    quantity: int
    unit_price: Decimal
    eddm_selection_id: str = ""

    @property
    def total(self) -> Decimal:
        return self.unit_price * self.quantity


@dataclass(frozen=True, slots=True)
class Option:
    delivery_method_code: str
    production_days: int
    earliest: date
    latest: date
    lines: tuple[Line, ...]

    @property
    def option_id(self) -> str:
        return f"{self.delivery_method_code}-{self.production_days}"

    @property
    def items_total(self) -> Decimal:
        return sum((line.total for line in self.lines), Decimal("0.00"))

    @property
    def delivery_total(self) -> Decimal:
        # The prices of products are delivered prices: nothing is added for delivery.
        return Decimal("0.00")

    @property
    def total(self) -> Decimal:
        return self.items_total + self.delivery_total


@dataclass(frozen=True, slots=True)
class Prices:
    """The prices of all items by delivery method, each to be had at every speed; why other methods are left out."""

    price_request: PriceRequest
    prices_by_method: Mapping[str, Sequence[Price]]
    speeds: Sequence[int]
    today: date
    issues: tuple[Fault, ...]

    @property
    def has_too_many_options(self) -> bool:
        return len(self.prices_by_method) * len(self.speeds) > MAX_OPTIONS

    @property
    def options(self) -> tuple[Option, ...]:
        """Raises Invalid for more than MAX_OPTIONS: a product may have a thousand methods and a hundred speeds."""
        if self.has_too_many_options:
            message = _(
                "Items: there are %(count)s options; at most %(most)s are quoted. Send DeliveryMethodCode or "
                "ProductionDays."
            ) % {"count": len(self.prices_by_method) * len(self.speeds), "most": MAX_OPTIONS}
            raise Invalid.at("/Items", "too_many_options", message)
        return tuple(self._option(code, days) for code in self.prices_by_method for days in self.speeds)

    def default_option(self, products: Mapping[str, ListedProduct]) -> Option:
        """The option with the first product's default delivery method and the slowest default speed of all products.

        Raises Invalid if that method does not serve the destination: no other price is chosen without a request.
        """
        first = products[self.price_request.items[0].product_id]
        method = self.price_request.delivery_method_code or first.delivery_method
        if method not in self.prices_by_method:
            message = _(
                "DeliveryMethodCode: %(method)s, the default of %(product_id)s, does not deliver all items "
                "there; allowed: %(allowed)s."
            ) % {
                "method": method or "none",
                "product_id": first.product_id,
                "allowed": ", ".join(self.prices_by_method),
            }
            raise Invalid.at("/DeliveryMethodCode", "delivery_method_unavailable", message)
        return self._option(method, self.default_speed(products))

    def default_speed(self, products: Mapping[str, ListedProduct]) -> int:
        listed = [products[item.product_id] for item in self.price_request.items]
        usual = max(next((speed.days for speed in p.speeds if speed.is_default), 0) for p in listed)
        return min(self.speeds, key=lambda days: abs(days - usual))

    def _option(self, method: str, days: int) -> Option:
        prices = self.prices_by_method[method]
        least, most = zip(*(transit_days(method, entry.description) for entry in prices), strict=True)
        return Option(
            delivery_method_code=method,
            production_days=days,
            earliest=add_business_days(self.today, days + max(least)),
            latest=add_business_days(self.today, days + max(most)),
            lines=tuple(
                Line(
                    item.item_key,
                    item.product_id,
                    item.quantity,
                    entry.price,
                    item.selection_id,
                )
                for item, entry in zip(self.price_request.items, prices, strict=True)
            ),
        )


def with_checked_terms(
    price_request: PriceRequest, product: ListedProduct, unit_price: Decimal
) -> ListedProduct:
    """The product with what was checked before, also where it offers that no longer."""
    method = price_request.delivery_method_code or ""
    listed = _prices_by_method(price_request, product).get(method)
    description = listed.description if listed else ""
    return replace(
        product,
        prices=(Price(method, price_request.location_type, unit_price, description),),
        speeds=(Speed(price_request.production_days or 0, is_default=True),),
        minimum_quantity=1,
        maximum_quantity=MAX_INTEGER,
        quantity_increment=1,
    )


def price_all_items(
    price_request: PriceRequest,
    products: Mapping[str, ListedProduct],
    *,
    today: date,
    places_served: PlacesServed,
) -> Prices:
    """Prices the production and delivery of all items; raises Invalid with everything that prevents a price.

    Delivery is checked for the known products alone, and the speed where all products are known.
    """
    faults = item_faults(price_request, products)
    priceable = replace(
        price_request, items=tuple(i for i in price_request.items if i.product_id in products)
    )
    methods: dict[str, list[Price]] = {}
    issues: tuple[Fault, ...] = ()
    speeds: list[int] = []
    if priceable.items:
        with collecting_faults(faults):
            methods, issues = _find_common_methods(priceable, products, places_served)
    if len(priceable.items) == len(price_request.items):
        with collecting_faults(faults):
            speeds = _find_common_speeds(price_request, products)
    raise_faults(faults)
    quantities = [item.quantity for item in price_request.items]
    for prices in methods.values():
        if sum(map(mul, quantities, (entry.price for entry in prices))) >= TOTAL_LIMIT:
            message = _("The total must stay below %(total_limit)s.") % {
                "total_limit": number_format(TOTAL_LIMIT, force_grouping=True)
            }
            raise Invalid.at("/Items", "total_too_large", message)
    return Prices(price_request, methods, speeds, today, issues)


def _find_common_methods(
    price_request: PriceRequest, products: Mapping[str, ListedProduct], places_served: PlacesServed
) -> tuple[dict[str, list[Price]], tuple[Fault, ...]]:
    """The prices of all items by delivery method, for methods that every item has; and why others are left out."""
    offers = [_prices_by_method(price_request, products[item.product_id]) for item in price_request.items]
    missing = [item.product_id for item, offer in zip(price_request.items, offers, strict=True) if not offer]
    if missing:
        raise _not_served(price_request, tuple(dict.fromkeys(missing)), places_served)
    every = list(dict.fromkeys(code for offer in offers for code in offer))
    methods = {code: [o[code] for o in offers] for code in every if all(code in offer for offer in offers)}
    method = price_request.delivery_method_code
    if method is not None and method not in methods:
        allowed = ", ".join(methods) or _("none fits all items")
        message = _(
            "DeliveryMethodCode: %(method)s does not deliver all items there; allowed: %(allowed)s."
        ) % {"method": method, "allowed": allowed}
        raise Invalid.at("/DeliveryMethodCode", "delivery_method_unavailable", message)
    if not methods:
        message = _("Items: no delivery method serves this destination for all items; order them separately.")
        raise Invalid.at("/Items", "no_common_delivery_method", message)
    issues = tuple(
        Fault(
            f"/Items/{index}",
            "delivery_method_left_out",
            _("%(code)s does not deliver this item there.") % {"code": code},
        )
        for code in (every if method is None else ())
        for index, offer in enumerate(offers)
        if code not in offer
    )
    return ({method: methods[method]} if method is not None else methods), issues


def _not_served(
    price_request: PriceRequest, product_ids: Sequence[str], places_served: PlacesServed
) -> Invalid:
    places = places_served(product_ids)
    nowhere = _("nowhere")
    served = [
        f"{product_id} {_join_names(places.get(product_id, ())) or nowhere}" for product_id in product_ids
    ]
    message = (
        _(
            "CountryCode: not delivered to %(type)s places in %(country)s: %(products)s. Where they are "
            "delivered: %(served)s."
        )
        if price_request.location_type
        else _(
            "CountryCode: not delivered in %(country)s: %(products)s. Where they are delivered: %(served)s."
        )
    ) % {
        "type": price_request.location_type,
        "country": price_request.country_code,
        "products": _join_names(product_ids),
        "served": _join_names(served, "; "),
    }
    return Invalid.at(f"{price_request.destination_pointer}/CountryCode", "destination_not_served", message)


def _join_names(names: Sequence[str], between: str = ", ") -> str:
    more = [_("%(count)s more") % {"count": len(names) - MAX_LISTED}] if len(names) > MAX_LISTED else []
    return between.join([*names[:MAX_LISTED], *more])


def _prices_by_method(price_request: PriceRequest, product: ListedProduct) -> dict[str, Price]:
    """The product's price by delivery method.

    Without a requested location type: that of the default type or, where the method has none, that of its first type.
    """
    requested_type = price_request.location_type
    location_type = requested_type or product.default_location_type or LocationType.RESIDENTIAL
    offers: dict[str, Price] = {}
    for entry in product.prices:
        if entry.location_type == location_type or (
            not requested_type and entry.delivery_method_code not in offers
        ):
            offers[entry.delivery_method_code] = entry
    return offers


def _find_common_speeds(price_request: PriceRequest, products: Mapping[str, ListedProduct]) -> list[int]:
    """Production days that suit all items: each is produced at its own speed or a faster one."""
    listed = {item.product_id: products[item.product_id] for item in price_request.items}.values()
    slowest_rush = max(min((speed.days for speed in p.speeds), default=0) for p in listed)
    speeds = sorted({s.days for p in listed for s in p.speeds if s.days >= slowest_rush} or {0})
    if price_request.production_days is None:
        return speeds
    if price_request.production_days not in speeds:
        allowed = ", ".join(map(str, speeds))
        message = _("ProductionDays: %(production_days)s is not offered; allowed: %(allowed)s.") % {
            "production_days": price_request.production_days,
            "allowed": allowed,
        }
        raise Invalid.at("/ProductionDays", "production_days_unavailable", message)
    return [price_request.production_days]
