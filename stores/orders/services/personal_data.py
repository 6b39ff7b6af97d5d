from collections.abc import Iterator

import orjson
from django.db.models import Q

from accounts.models import User
from fulfillment.core.api.serializers import timestamp
from fulfillment.core.audit.personal_data import PersonalData, Record
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
from stores.orders.services.recipients import erase_recipient
from stores.orders.services.transitions import Actor
from stores.proofs.models import Asset
from stores.proofs.services.assets import remove_asset_files


def personal_data() -> list[PersonalData]:
    return [
        PersonalData("orders", _orders),
        PersonalData("order_history", _history),
        PersonalData("approvals", _approvals),
        PersonalData("order_comments", _comments),
        PersonalData("order_views", _views, _erase_views),
        PersonalData("quotes", _quotes),
        PersonalData("pictures", _pictures, _erase_pictures),
        PersonalData("catalog_imports", _catalog_uploads),
    ]


def _orders(user: User) -> Iterator[Record]:
    placed = Order.objects.filter(user=user).select_related("store").prefetch_related("items", "shipments")
    # Few at once: the items of one order can have 10 MB.
    for order in placed.order_by("created").iterator(chunk_size=5):
        yield orjson.loads(dumps(full_record(order, order.store.external_id)))


def _history(user: User) -> Iterator[Record]:
    for entry in OrderHistory.objects.filter(actor=user).order_by("timestamp").iterator():
        yield {
            "OrderID": str(entry.order_id),
            "Status": entry.status,
            "Timestamp": timestamp(entry.timestamp),
            "Note": entry.note,
        }


def _approvals(user: User) -> Iterator[Record]:
    for request in ApprovalRequest.objects.filter(decided_by=user).order_by("decided").iterator():
        yield {
            "OrderID": str(request.pk),
            "Decided": timestamp(request.decided or request.requested),
            "Note": request.note,
        }


def _comments(user: User) -> Iterator[Record]:
    for comment in OrderComment.objects.filter(author=user).order_by("pk").iterator():
        yield {
            "OrderID": str(comment.order_id),
            "Text": comment.text,
            "Created": timestamp(comment.created),
        }


def _views(user: User) -> Iterator[Record]:
    for view in OrderView.objects.filter(owner=user).order_by("pk"):
        yield {"Name": view.name, "Query": view.query, "IsShared": view.is_shared}


def _erase_views(user: User) -> None:
    OrderView.objects.filter(owner=user).delete()


def _quotes(user: User) -> Iterator[Record]:
    for quote in Quote.objects.filter(user=user).order_by("created").iterator():
        yield {**orjson.loads(quote.rendering), "Created": timestamp(quote.created)}


def _pictures(user: User) -> Iterator[Record]:
    for asset in Asset.objects.filter(user=user).order_by("created"):
        yield {"AssetID": str(asset.pk), "SHA256": asset.sha256, "Created": timestamp(asset.created)}
    for upload in ArtworkUpload.objects.filter(user=user).order_by("created"):
        yield {"FileName": upload.name, "SHA256": upload.sha256, "Created": timestamp(upload.created)}


def _catalog_uploads(user: User) -> Iterator[Record]:
    sent = CatalogUpload.objects.filter(Q(created_by=user) | Q(imported_by=user))
    for upload in sent.order_by("pk"):
        yield {"FileName": upload.file_name, "State": upload.state, "Created": timestamp(upload.created)}


def _erase_pictures(user: User) -> None:
    """Erases the pictures that the user uploaded on pages; those of an application belong to the application."""
    own = list(Asset.objects.filter(user=user, application=None))
    Asset.objects.filter(pk__in=[asset.pk for asset in own]).delete()
    remove_asset_files(own)


def erase_placed_orders(*, user: User) -> list[int]:
    """Erases the recipients of the orders that the user placed.

    Returns the numbers of the orders that keep them because they are not shipped yet.
    """
    placed = Order.objects.filter(user=user)
    for order in placed.filter(status__in=TERMINAL_OR_SHIPPED).select_related("store"):
        erase_recipient(order=order, actor=Actor(ActorKind.OPERATOR))
    return list(placed.filter(recipient_erased=None).order_by("number").values_list("number", flat=True))
