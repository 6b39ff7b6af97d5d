"""Names for the codes that events of the audit log keep."""

from collections.abc import Callable, Sequence
from typing import Any

from fulfillment.templatetags.portal import method_name
from stores.catalog.models import Product


def name_methods(events: Sequence[Any]) -> Callable[[Any, str], str]:
    return lambda _, code: method_name(code)


def name_products(events: Sequence[Any]) -> Callable[[Any, str], str]:
    """Of the stores of these events; a product that is gone keeps its ID."""
    found = Product.objects.filter(
        store__in={event.store_id for event in events},
        external_id__in={code for event in events for code in event.product_ids},
    )
    names = {(store, code): name for store, code, name in found.values_list("store", "external_id", "name")}
    return lambda event, code: names.get((event.store_id, code), code)
