"""Stores and products in the console's search."""

from django.http import HttpRequest

from fulfillment.core.admin.hits import named_hits
from fulfillment.core.admin.offers import Hit
from stores.catalog.models import Product, Store


def find_stores(request: HttpRequest, words: str) -> list[Hit]:
    fields = ["company_name", "external_id"]
    return named_hits(request, Store, words, fields, lambda store: (store.company_name, store.external_id))


def find_products(request: HttpRequest, words: str) -> list[Hit]:
    fields = ["name", "external_id"]
    return named_hits(
        request, Product, words, fields, lambda one: (one.name, one.external_id, one.store.company_name)
    )
