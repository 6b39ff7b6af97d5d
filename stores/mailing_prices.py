"""What one piece of a mailing costs, for selections within a budget."""

from decimal import Decimal

from django.utils import timezone

from accounts.callers import Caller
from fulfillment.core.errors import Invalid
from stores.orders.business_days import local_date
from stores.orders.pricing import PriceRequest, PriceRequestItem, price
from stores.orders.selectors.access import WRITE, authorize_store
from stores.orders.selectors.price_lists import listed_products


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
