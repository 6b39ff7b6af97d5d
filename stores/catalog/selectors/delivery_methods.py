"""The delivery method codes that stores use."""

from django.db.models import QuerySet

from stores.catalog.models import DeliveredPrice, Product, Store

MAXIMUM_METHODS = 200


def known_delivery_methods(stores: QuerySet[Store]) -> list[str]:
    """The codes of products and of prices, sorted."""
    of_products = Product.objects.filter(store__in=stores).values_list("delivery_method")
    of_prices = DeliveredPrice.objects.filter(product__store__in=stores).values_list("delivery_method_code")
    codes = of_products.order_by().union(of_prices.order_by())
    return sorted(code for (code,) in codes[:MAXIMUM_METHODS])
