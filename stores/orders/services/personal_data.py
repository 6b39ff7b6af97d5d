"""What orders hold of a person: the export of it, and its erasure."""

from collections.abc import Iterator
from contextlib import suppress

import orjson
from django.db import Error, transaction
from django.db.models import Q

from accounts.models import User
from fulfillment.core.audit.personal_data import PersonalData, records_of
from fulfillment.core.errors import DomainError
from fulfillment.core.text import JsonObject, timestamp
from stores.catalog.models import ArtworkUpload, CatalogUpload
from stores.orders.models import (
    ActorKind,
    ApprovalRequest,
    Order,
    OrderComment,
    OrderHistory,
    OrderView,
    Quote,
)
from stores.orders.models.status import TERMINAL_OR_SHIPPED
from stores.orders.representations import dumps
from stores.orders.selectors.orders import full_record
from stores.orders.selectors.recipients import names_and_emails
from stores.orders.services.changes import Actor
from stores.orders.services.recipients import erase_recipient
from stores.orders.services.saved_views import delete_views_naming
from stores.proofs.models import Asset
from stores.proofs.services.assets import remove_asset_files


def personal_data() -> list[PersonalData]:
    return [
        PersonalData("orders", _orders_of),
        PersonalData("order_history", _history_of),
        PersonalData("approvals", _approvals_of),
        PersonalData("order_comments", _comments_of),
        PersonalData("order_views", _views_of, _erase_views),
        PersonalData("quotes", _quotes_of),
        PersonalData("pictures", _pictures_of, _erase_pictures),
        PersonalData("catalog_imports", _catalog_uploads),
    ]


def _orders_of(user: User) -> Iterator[JsonObject]:
    placed = Order.objects.filter(user=user).select_related("store").prefetch_related("items", "shipments")
    # Few at once: the items of one order can have 10 MB.
    for order in placed.order_by("created").iterator(chunk_size=5):
        yield orjson.loads(dumps(full_record(order, order.store.external_id)))


def _history_of(user: User) -> Iterator[JsonObject]:
    history = OrderHistory.objects.filter(actor=user).order_by("timestamp")
    return records_of(history, OrderID="order_id", Status="status", Timestamp="timestamp", Note="note")


def _approvals_of(user: User) -> Iterator[JsonObject]:
    requests = ApprovalRequest.objects.filter(decided_by=user).order_by("decided")
    return records_of(requests, OrderID="pk", Decided="decided", Note="note")


def _comments_of(user: User) -> Iterator[JsonObject]:
    comments = OrderComment.objects.filter(author=user).order_by("pk")
    return records_of(comments, OrderID="order_id", Text="text", Created="created")


def _views_of(user: User) -> Iterator[JsonObject]:
    views = OrderView.objects.filter(owner=user).order_by("pk")
    return records_of(views, Name="name", Query="query", IsShared="is_shared")


def _erase_views(user: User) -> None:
    OrderView.objects.filter(owner=user).delete()


def _quotes_of(user: User) -> Iterator[JsonObject]:
    for quote in Quote.objects.filter(user=user).order_by("created").iterator():
        yield {**orjson.loads(quote.rendering), "Created": timestamp(quote.created)}


def _pictures_of(user: User) -> Iterator[JsonObject]:
    assets = Asset.objects.filter(user=user).order_by("created")
    uploads = ArtworkUpload.objects.filter(user=user).order_by("created")
    yield from records_of(assets, AssetID="pk", SHA256="sha256", Created="created")
    yield from records_of(uploads, FileName="name", SHA256="sha256", Created="created")


def _catalog_uploads(user: User) -> Iterator[JsonObject]:
    uploads = CatalogUpload.objects.filter(Q(created_by=user) | Q(imported_by=user)).order_by("pk")
    return records_of(uploads, FileName="file_name", State="state", Created="created")


def _erase_pictures(user: User) -> None:
    """Erases the pictures that the user uploaded on pages; those of an application belong to the application."""
    own = list(Asset.objects.filter(user=user, application=None))
    Asset.objects.filter(pk__in=[asset.pk for asset in own]).delete()
    # A later step may fail, and the pictures stay.
    transaction.on_commit(lambda: remove_asset_files(own))


@transaction.atomic
def erase_order(*, order: Order, force: bool = False) -> int:
    """Erases the recipient of an order, and the saved views that name it; returns how many views."""
    people = names_and_emails([order])
    erase_recipient(order=order, actor=Actor(ActorKind.OPERATOR), force=force)
    return delete_views_naming(people, dry_run=False)


def erase_placed_orders(*, user: User) -> list[int]:
    """Erases the recipients of the orders that the user placed.

    Returns the numbers of the orders that keep them: they are not shipped yet, or cannot be erased now.
    """
    placed = Order.objects.filter(user=user)
    for order in placed.filter(status__in=TERMINAL_OR_SHIPPED).select_related("store"):
        # The user is erased already: only the returned numbers lead to the orders that are left.
        with suppress(DomainError, Error):
            erase_recipient(order=order, actor=Actor(ActorKind.OPERATOR))
    return list(placed.filter(recipient_erased=None).order_by("number").values_list("number", flat=True))
