"""Saved views of the console's list of orders."""

from typing import Any

from django.db import IntegrityError, transaction

from fulfillment.core.errors import Conflict, Invalid, NotFound
from stores.orders.models import OrderView
from stores.orders.models.view import LONGEST_VIEW_NAME

MAX_VIEWS = 20
LONGEST_QUERY = 1000


@transaction.atomic
def save_order_view(
    *, owner: Any, name: str, query: str, is_shared: bool = False, store_pk: int | None = None
) -> OrderView:
    """Saves a view; replaces the owner's view of the same name."""
    name = " ".join(name.split())
    if not name:
        raise Invalid.at("/Name", "required", "Name: give the view a name.")
    if len(name) > LONGEST_VIEW_NAME:
        raise Invalid.at("/Name", "too_long", f"Name: at most {LONGEST_VIEW_NAME} characters.")
    if len(query) > LONGEST_QUERY:
        raise Invalid.at("/Query", "too_long", "The filters of this view are too long to be saved.")
    values = {"query": query, "is_shared": is_shared, "store_id": store_pk if is_shared else None}
    if OrderView.objects.filter(owner=owner, name=name).update(**values):
        return OrderView.objects.get(owner=owner, name=name)
    if OrderView.objects.filter(owner=owner).count() >= MAX_VIEWS:
        message = f"You have {MAX_VIEWS} views, which is as many as there may be; delete one first."
        raise Conflict(message, code="too_many_views")
    try:
        with transaction.atomic():
            return OrderView.objects.create(owner=owner, name=name, **values)
    except IntegrityError as error:
        raise Conflict("A view of this name was just saved; save it again.", code="view_exists") from error


def delete_order_view(*, owner: Any, view_id: int) -> str:
    """Deletes one of the owner's views and returns its name."""
    view = OrderView.objects.filter(owner=owner, pk=view_id).first()
    if view is None:
        raise NotFound("You have no such view.", code="view_not_found")
    view.delete()
    return view.name
