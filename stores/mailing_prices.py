"""The price of one piece of a mailing, for selections within a budget."""

from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal

from django.urls import reverse
from django.utils import timezone

from accounts.callers import Caller
from accounts.models import User
from fulfillment.core.errors import DomainError, Invalid
from stores.catalog.models import Product
from stores.orders.business_days import local_date
from stores.orders.pricing import PriceRequest, PriceRequestItem, price
from stores.orders.selectors.access import WRITE, authorize_store
from stores.orders.selectors.price_lists import listed_products
from stores.playground.selectors.actors import usable_stores

MAX_STORES, MAX_PRODUCTS = 20, 100


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
        prices = price(request, products, today=local_date(timezone.now(), access.store.time_zone))
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


def mailing_products(caller: Caller, user: User) -> list[MailingProduct]:
    """The products that the caller may order for a mailing, at most 100."""
    stores = {store.pk: store for store in usable_stores(user)[:MAX_STORES]}
    eddm_products = Product.objects.filter(store__in=stores, is_active=True, is_eddm=True).order_by(
        "store", "position"
    )
    found = []
    columns = ("store", "external_id", "name", "minimum_quantity", "maximum_quantity")
    for store_pk, product_id, name, least, most in eddm_products.values_list(*columns)[:MAX_PRODUCTS]:
        store = stores[store_pk]
        with suppress(DomainError):
            price = unit_price(
                caller, store_id=store.external_id, product_id=product_id, delivery_method_code=None
            )
            key = f"{store.external_id}/{product_id}"
            page = reverse("portal:product", args=[store.external_id, product_id])
            name_at_store = f"{name}, {store.company_name}"
            found.append(MailingProduct(key, name_at_store, price, store.currency, page, least, most))
    return found
