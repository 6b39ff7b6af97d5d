"""Converts request bodies to the arguments of services."""

from collections.abc import Mapping
from typing import Any

from stores.orders.api.quotes import price_request_from
from stores.orders.models import RECIPIENT_FIELDS
from stores.orders.services.transitions import Parcel
from stores.orders.services.validation import OrderRequest


def order_request_of(values: Mapping[str, Any]) -> OrderRequest:
    sent = values["Recipient"]
    recipient = {name: sent.get(name, "") for name in RECIPIENT_FIELDS}
    if "LocationType" in sent:
        recipient["LocationType"] = sent["LocationType"]
    return OrderRequest(
        price_request=price_request_from(values, "Recipient"),
        recipient=recipient,
        template_data=[item.get("TemplateData") for item in values["Items"]],
        external_id=values.get("ExternalID"),
        quote_id=values.get("QuoteID"),
        option_id=values.get("OptionID"),
        metadata=values.get("Metadata"),
        reprint_of=values.get("ReprintOfOrderID"),
    )


def parcels_of(values: Mapping[str, Any]) -> list[Parcel]:
    return [
        Parcel(
            carrier=sent["Carrier"],
            tracking_number=sent["TrackingNumber"],
            tracking_url=sent.get("TrackingURL", ""),
            item_keys=tuple(sent.get("ItemKeys", ())),
            shipped=sent.get("Shipped"),
        )
        for sent in values.get("Shipments", ())
    ]
