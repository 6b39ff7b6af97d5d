"""What the filters of lists offer: stores, products and delivery methods, by their names."""

from collections import Counter
from collections.abc import Iterable

from django.db.models import QuerySet

from fulfillment.templatetags.portal import method_name
from stores.catalog.models import DeliveredPrice, Product, Store

# More choices are no help; a filter then says how to narrow them.
MAX_CHOICES = 200
Choices = list[tuple[str, str]]


def store_choices(stores: QuerySet[Store]) -> Choices:
    """Up to MAX_CHOICES + 1."""
    return _named(
        stores.order_by("company_name").values_list("external_id", "company_name")[: MAX_CHOICES + 1]
    )


def product_choices(stores: QuerySet[Store]) -> Choices:
    """Up to MAX_CHOICES + 1; products of several stores with the same ID are one choice."""
    products = Product.objects.filter(store__in=stores.order_by()).order_by("external_id", "name")
    found = products.distinct("external_id").values_list("external_id", "name")[: MAX_CHOICES + 1]
    return sorted(_named(found), key=lambda choice: choice[1].casefold())


def delivery_choices(stores: QuerySet[Store]) -> Choices:
    prices = DeliveredPrice.objects.filter(product__store__in=stores.order_by()).order_by()
    codes = prices.values_list("delivery_method_code", flat=True).distinct()[:MAX_CHOICES]
    return [(code, method_name(code)) for code in sorted(codes)]


def _named(found: Iterable[tuple[str, str]]) -> Choices:
    """Equal names have their IDs beside them."""
    found = list(found)
    count = Counter(name for _, name in found)
    return [(key, name if count[name] == 1 else f"{name} ({key})") for key, name in found]
