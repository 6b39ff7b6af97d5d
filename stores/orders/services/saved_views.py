"""Saved views of the list of orders."""

import re
from collections.abc import Collection
from typing import Any
from urllib.parse import parse_qs

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from fulfillment.core.errors import Conflict, Invalid, NotFound
from stores.orders.models import OrderView
from stores.orders.models.saved_views import MAX_VIEW_NAME_LENGTH
from stores.orders.selectors.recipients import is_identifying

MAX_VIEWS = 20
MAX_QUERY_LENGTH = 1000


@transaction.atomic
def save_order_view(
    *, owner: Any, name: str, query: str, is_shared: bool = False, store_pk: int | None = None
) -> OrderView:
    """Saves a view; replaces the owner's view of the same name."""
    name = " ".join(name.split())
    if not name:
        raise Invalid.at("/Name", "required", _("Name: enter a name for the view."))
    if len(name) > MAX_VIEW_NAME_LENGTH:
        raise Invalid.at(
            "/Name",
            "too_long",
            _("Name: at most %(max_length)s characters.") % {"max_length": MAX_VIEW_NAME_LENGTH},
        )
    if len(query) > MAX_QUERY_LENGTH:
        raise view_too_long()
    values = {"query": query, "is_shared": is_shared, "store_id": store_pk if is_shared else None}
    if OrderView.objects.filter(owner=owner, name=name).update(**values):
        return OrderView.objects.get(owner=owner, name=name)
    if OrderView.objects.filter(owner=owner).count() >= MAX_VIEWS:
        message = f"You have {MAX_VIEWS} views, which is the limit. Delete one first."
        raise Conflict(message, code="too_many_views")
    try:
        with transaction.atomic():
            return OrderView.objects.create(owner=owner, name=name, **values)
    except IntegrityError as error:
        raise Conflict(
            _("A view with this name was just saved; save it again."), code="view_exists"
        ) from error


def view_too_long() -> Invalid:
    return Invalid.at("/Query", "too_long", _("The filters of this view are too long to be saved."))


def delete_order_view(*, owner: Any, view_id: int) -> str:
    """Deletes one of the owner's views and returns its name."""
    view = OrderView.objects.filter(owner=owner, pk=view_id).first()
    if view is None:
        raise NotFound(_("You have no such view."), code="view_not_found")
    view.delete()
    return view.name


def delete_views_naming(people: Collection[str], *, dry_run: bool) -> int:
    """Deletes saved views whose name or search has one of these names or addresses, without regard to case."""
    words = "|".join(re.escape(word) for name in people if is_identifying(word := name.strip()))
    naming = re.compile(rf"(?<!\w)({words})(?!\w)", re.IGNORECASE)
    views = OrderView.objects.values_list("pk", "name", "query") if words else []
    matching = [
        pk
        for pk, name, query in views
        if any(naming.search(text) for text in (name, *parse_qs(query).get("q", [])))
    ]
    if not dry_run:
        OrderView.objects.filter(pk__in=matching).delete()
    return len(matching)
