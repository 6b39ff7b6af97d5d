"""How a body of the API, of a page or of a file becomes a request for prices or an order."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from rest_framework.exceptions import ValidationError

from fulfillment.core.api.errors import as_domain_error
from fulfillment.core.api.serializers import validate_data
from stores.orders.eddm import RequestedSelection
from stores.orders.models import RECIPIENT_FIELDS
from stores.orders.request_fields import OrderRequestSerializer
from stores.orders.requests import OrderRequest, PriceRequest, PriceRequestItem
from stores.proofs.services.artwork import ArtworkChoice


def item_keys(keys: Sequence[str | None]) -> Iterator[str]:
    """An item without a key gets its number, from 1; if another item has that key, a number above the item count."""
    others = (str(number) for number in count(len(keys) + 1))
    for number, key in enumerate(keys, start=1):
        if not key and str(number) in keys:
            key = next(other for other in others if other not in keys)
        yield key or str(number)


def price_request_from(values: Mapping[str, Any], destination_member: str = "ShipTo") -> PriceRequest:
    destination = values[destination_member]
    keys = item_keys([item.get("ItemKey") for item in values["Items"]])
    return PriceRequest(
        items=tuple(
            PriceRequestItem(
                key,
                item["ProductID"],
                item.get("Quantity", 0),
                RequestedSelection(item["EddmSelectionID"]) if "EddmSelectionID" in item else None,
                ArtworkChoice.from_record(item["Artwork"]) if "Artwork" in item else None,
            )
            for key, item in zip(keys, values["Items"], strict=True)
        ),
        country_code=destination["CountryCode"],
        location_type=destination.get("LocationType") or "",
        delivery_method_code=values.get("DeliveryMethodCode"),
        production_days=values.get("ProductionDays"),
        destination_pointer=f"/{destination_member}",
    )


def order_request_of(values: Mapping[str, Any]) -> OrderRequest:
    recipient_values = values["Recipient"]
    recipient = {name: recipient_values.get(name, "") for name in RECIPIENT_FIELDS}
    if "LocationType" in recipient_values:
        recipient["LocationType"] = recipient_values["LocationType"]
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


def read_order_request(body: Mapping[str, Any]) -> OrderRequest:
    """The order of a page or a file, by the rules of the API; raises Invalid."""
    try:
        return order_request_of(validate_data(OrderRequestSerializer, body))
    except ValidationError as error:
        raise as_domain_error(error) from error
