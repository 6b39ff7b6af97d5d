"""The price of one piece of a mailing, by which a selection keeps within a budget."""

from contextlib import suppress

from accounts.callers import Caller
from accounts.models import User
from fulfillment.core.errors import DomainError
from stores.catalog.models import Product
from stores.orders.selectors.selections import COLUMNS, MailingProduct, mailing_product, unit_price
from stores.product_pages.selectors import usable_stores

MAX_STORES, MAX_PRODUCTS = 20, 100

__all__ = ["mailing_products", "unit_price"]


def mailing_products(caller: Caller, user: User) -> list[MailingProduct]:
    """The products that the caller may order for a mailing, at most 100."""
    stores = {store.pk: store for store in usable_stores(user)[:MAX_STORES]}
    eddm_products = (
        Product.objects.filter(store__in=stores, is_active=True, is_eddm=True)
        .only("store_id", *COLUMNS)
        .order_by("store", "position")
    )
    offers = []
    for product in eddm_products[:MAX_PRODUCTS]:
        with suppress(DomainError):
            offers.append(mailing_product(caller, store=stores[product.store_id], product=product))
    return offers
