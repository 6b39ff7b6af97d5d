"""The price of one piece of a mailing, and products for EDDM with theirs."""

from dataclasses import dataclass
from decimal import Decimal
from functools import partial

from django.urls import reverse
from django.utils import timezone

from accounts.callers import Caller
from fulfillment.core.errors import Invalid
from stores.catalog.models import Product, Store
from stores.orders.business_days import local_date
from stores.orders.price_requests import PriceRequest, PriceRequestItem
from stores.orders.pricing import price
from stores.orders.selectors.access import WRITE, authorize_store
from stores.orders.selectors.price_lists import listed_products, places_served


def unit_price(
    caller: Caller, *, store_id: str, product_id: str, delivery_method_code: str | None
) -> Decimal:
    """Delivered, in the store's currency, as an order of it would be priced."""
    access = authorize_store(caller, store_id, WRITE)
    products = listed_products(store_pk=access.store.pk, product_ids=[product_id], country_code="US")
    product = products.get(product_id)
    if product is None:
        message = f"ProductID: {store_id} has no product {product_id}."
        raise Invalid.at("/Budget/ProductID", "product_unknown", message)
    item = PriceRequestItem("1", product_id, product.minimum_quantity)
    request = PriceRequest((item,), "US", delivery_method_code=delivery_method_code)
    try:
        today = local_date(timezone.now(), access.store.time_zone)
        prices = price(request, products, today=today, places=partial(places_served, access.store.pk))
        return prices.default_option(request, products).lines[0].unit_price
    except Invalid as refusal:
        member = "DeliveryMethodCode" if delivery_method_code else "ProductID"
        raise Invalid.at(f"/Budget/{member}", refusal.code, refusal.message) from refusal


@dataclass(frozen=True, slots=True)
class MailingProduct:
    """For a choice on a page; `price` is that of one piece with the usual delivery method.

    `page` is where it is quoted and ordered.
    """

    key: str
    name: str
    price: Decimal
    currency: str
    page: str
    least: int
    most: int


COLUMNS = ("external_id", "name", "minimum_quantity", "maximum_quantity")


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
