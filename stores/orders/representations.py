"""The API's records of orders, also as lines of CSV; stores.orders.api.serializers describes the same shapes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings

from fulfillment.core.csv_rows import csv_pieces
from fulfillment.core.text import JsonObject, meta, timestamp
from stores.orders.eddm import shown_routes
from stores.orders.models import Order, OrderHistory, OrderItem, OrderStatus, Shipment

EXPORT_COLUMNS = (
    "OrderID",
    "OrderNumber",
    "ExternalID",
    "StoreID",
    "ApplicationID",
    "Status",
    "StatusName",
    "Created",
    "Updated",
    "ProductIDs",
    "ItemCount",
    "TotalQuantity",
    "DeliveryMethodCode",
    "ProductionDays",
    "RecipientName",
    "RecipientCity",
    "RecipientState",
    "RecipientPostalCode",
    "RecipientCountryCode",
    "Currency",
    "Total",
    "TrackingNumbers",
)
# An event stays below 20 kB, with its envelope around the data.
EVENT_DATA_BYTES = 19_000


def _identity_record(order: Order, store_id: str) -> JsonObject:
    """The members with which an order begins, in lists as well as alone."""
    return {
        "OrderID": str(order.pk),
        "OrderNumber": str(order.number),
        "ExternalID": order.external_id,
        "StoreID": store_id,
        "ApplicationID": _write_id(order.application_id),
        "Status": int(order.status),
        "StatusName": OrderStatus(order.status).label,
    }


def export_record(order: Order, store_id: str) -> JsonObject:
    recipient: Mapping[str, str] = order.recipient
    return {
        **_identity_record(order, store_id),
        "Created": timestamp(order.created),
        "Updated": timestamp(order.updated),
        "ProductIDs": order.product_ids,
        "ItemCount": order.item_count,
        "TotalQuantity": order.total_quantity,
        "DeliveryMethodCode": order.delivery_method_code,
        "ProductionDays": order.production_days,
        "RecipientName": recipient["Name"],
        "RecipientCity": recipient["City"],
        "RecipientState": recipient.get("State", ""),
        "RecipientPostalCode": recipient["PostalCode"],
        "RecipientCountryCode": recipient["CountryCode"],
        "Currency": order.currency,
        "Total": order.total,
        "TrackingNumbers": order.tracking_numbers,
    }


def render_export_row(order: Order, store_id: str) -> str:
    return dumps(export_record(order, store_id)).decode()


def order_record(
    order: Order,
    store_id: str,
    *,
    items: Iterable[OrderItem],
    shipments: Iterable[Shipment],
    approval: JsonObject | None = None,
    messages: Iterable[str] = (),
) -> JsonObject:
    return {
        **_identity_record(order, store_id),
        "Sequence": order.sequence,
        "Created": timestamp(order.created),
        "Updated": timestamp(order.updated),
        "CancellableUntil": timestamp(order.cancellable_until),
        "Cancellation": _cancellation_record(order),
        "Approval": approval,
        "DeliveryMethodCode": order.delivery_method_code,
        "ProductionDays": order.production_days,
        "EarliestDelivery": order.earliest_delivery.isoformat(),
        "LatestDelivery": order.latest_delivery.isoformat(),
        "Currency": order.currency,
        "ItemsTotal": order.items_total,
        "DeliveryTotal": order.delivery_total,
        "Total": order.total,
        "QuoteID": _write_id(order.quote_id),
        "OptionID": order.option_id or None,
        "ReprintOfOrderID": _write_id(order.reprint_of_id),
        "BatchID": None,
        "RowKey": None,
        "Recipient": order.recipient,
        "Items": [item_record(item, order, store_id) for item in items],
        "Shipments": [shipment_record(shipment) for shipment in shipments],
        "Metadata": order.metadata,
        "IsTest": order.is_test,
        "_meta": meta(*messages),
    }


def item_record(item: OrderItem, order: Order, store_id: str) -> JsonObject:
    return {
        "ItemKey": item.item_key,
        "ProductID": item.product_external_id,
        "ProductName": item.product_name,
        "Quantity": item.quantity,
        "UnitPrice": item.unit_price,
        "LineTotal": item.line_total,
        "TemplateData": item.template_data,
        **({"Artwork": item.artwork} if item.artwork else {}),
        "PrintFile": {
            "URL": f"{order_url(order, store_id)}/item/{item.item_key}/print-file",
            "SHA256": item.print_sha256,
            "Bytes": item.print_bytes,
        }
        if item.print_file
        else None,
        "Preflight": item.preflight or [],
        **(
            _eddm_members(item.eddm, f"{order_url(order, store_id)}/item/{item.item_key}")
            if item.eddm
            else {}
        ),
    }


def _eddm_members(stored: Mapping[str, Any], item_url: str) -> JsonObject:
    return {
        "EddmSelectionID": stored["SelectionID"],
        "EddmVintage": stored["Vintage"],
        "EddmRoutes": shown_routes(stored),
        "EddmPapersURL": f"{item_url}/eddm-papers",
    }


def shipment_record(shipment: Shipment) -> JsonObject:
    return {
        "Carrier": shipment.carrier,
        "TrackingNumber": shipment.tracking_number,
        "TrackingURL": shipment.tracking_url or None,
        "ItemKeys": shipment.item_keys,
        "Shipped": timestamp(shipment.shipped),
    }


def history_record(entry: OrderHistory) -> JsonObject:
    return {
        "Sequence": entry.sequence,
        "PreviousStatus": entry.previous_status,
        "Status": entry.status,
        "StatusName": OrderStatus(entry.status).label,
        "Timestamp": timestamp(entry.timestamp),
        "ActorKind": entry.actor_kind,
        "Note": entry.note,
    }


def event_data(
    order: Order, store_id: str, *, previous_status: int | None, shipments: Iterable[Shipment]
) -> JsonObject:
    """The data of an event: no recipient, and only the latest parcels that fit into EVENT_DATA_BYTES."""
    data: JsonObject = {
        "OrderID": str(order.pk),
        "OrderNumber": str(order.number),
        "ExternalID": order.external_id,
        "Sequence": order.sequence,
        "PreviousStatus": previous_status,
        "Status": int(order.status),
        "StatusName": OrderStatus(order.status).label,
        "Shipments": [],
        "OrderURL": order_url(order, store_id),
    }
    return {**data, "Shipments": _find_latest(shipments, EVENT_DATA_BYTES - len(dumps(data)))}


def _find_latest(shipments: Iterable[Shipment], room: int) -> list[JsonObject]:
    """The latest parcels that take at most `room` bytes, without their item keys, oldest first."""
    latest: list[JsonObject] = []
    for shipment in reversed(list(shipments)):
        record = {name: value for name, value in shipment_record(shipment).items() if name != "ItemKeys"}
        room -= len(dumps(record)) + len(",")
        if room < 0:
            break
        latest.append(record)
    return latest[::-1]


def order_url(order: Order, store_id: str) -> str:
    return f"{settings.API_URL}/store/{store_id}/order/{order.pk}"


def order_etag(order: Order) -> str:
    return f'"{order.pk.hex}-{order.sequence}"'


def dumps(value: Any) -> bytes:
    return orjson.dumps(value, default=_write_number)


def _write_number(value: Any) -> float:
    if isinstance(value, Decimal):
        return float(value)
    raise TypeError(f"{type(value).__name__} cannot be written to a record")


def _cancellation_record(order: Order) -> JsonObject | None:
    if not order.cancellation:
        return None
    return {
        "State": order.cancellation,
        "Asked": timestamp(order.cancellation_asked) if order.cancellation_asked else None,
        "Reason": order.cancellation_reason,
        "Note": order.cancellation_note,
    }


def _write_id(value: UUID | None) -> str | None:
    return None if value is None else str(value)


def csv_chunks(renderings: Iterable[str], columns: Sequence[str] = EXPORT_COLUMNS) -> Iterator[bytes]:
    """The header and a line for each stored rendering, a few hundred at a time."""
    return csv_pieces(
        columns,
        ([_write_cell(value) for value in orjson.loads(rendering).values()] for rendering in renderings),
    )


def _write_cell(value: Any) -> Any:
    return ";".join(value) if isinstance(value, list) else value
