"""Saved views of the list of orders."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Q, QuerySet

from stores.orders.models import OrderView

MAX_SHOWN = 30


def order_views_for(user: Any, store_pks: Sequence[int] | None) -> QuerySet[OrderView]:
    """The user's own views, and those shared with the staff of these stores; None means all stores."""
    shared = Q(store__isnull=True) if store_pks is None else Q(store__in=store_pks)
    return OrderView.objects.filter(Q(owner=user) | Q(shared, is_shared=True)).order_by("name", "pk")[
        :MAX_SHOWN
    ]
