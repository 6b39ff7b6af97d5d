"""The codes of delivery methods that a store uses already."""

from django.db.models import QuerySet

from stores.catalog.models import DeliveredPrice, Product, Store

MOST_METHODS = 200


def known_delivery_methods(stores: QuerySet[Store]) -> list[str]:
    """Of products and of prices, in the order of the alphabet."""
    of_products = Product.objects.filter(store__in=stores).values_list("delivery_method")
    of_prices = DeliveredPrice.objects.filter(product__store__in=stores).values_list("delivery_method_code")
    codes = of_products.order_by().union(of_prices.order_by())
    return sorted(code for (code,) in codes[:MOST_METHODS])
