"""The words by which an order is found. The database keeps them, so that no way of writing can forget to."""

import pgtrigger
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models

# Its functions are created by the migration of this model: `fulfillment_search_words` makes words of a text, without
# accents and case; `fulfillment_order_words` makes those of an order.
WRITE = """
INSERT INTO stores_ordersearch (order_id, words) VALUES (NEW.id, fulfillment_order_words(NEW))
ON CONFLICT (order_id) DO UPDATE SET words = excluded.words;
RETURN NULL;
"""
COLUMNS = ("store", "application", "user", "external_id", "recipient", "recipient_erased", "tracking_numbers")


SEARCH_TRIGGERS = [
    pgtrigger.Trigger(name="search_insert", when=pgtrigger.After, operation=pgtrigger.Insert, func=WRITE),
    pgtrigger.Trigger(
        name="search_update",
        when=pgtrigger.After,
        operation=pgtrigger.Update,
        condition=pgtrigger.AnyChange(*COLUMNS),
        func=WRITE,
    ),
    pgtrigger.Trigger(
        name="search_delete",
        when=pgtrigger.After,
        operation=pgtrigger.Delete,
        func="DELETE FROM stores_ordersearch WHERE order_id = OLD.id; RETURN NULL;",
    ),
]


class OrderSearch(models.Model):
    """The words of one order, in a table of its own: a search reads no order that it does not find."""

    order = models.OneToOneField(
        "stores.Order", primary_key=True, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+"
    )
    words = SearchVectorField()

    class Meta:
        # A long list of pending entries would be read by each search.
        indexes = [GinIndex("words", name="order_search_words", gin_pending_list_limit=256)]

    def __str__(self) -> str:
        return str(self.order_id)
