"""Changes of an order that are refused, each with the place and the code of its mistake."""

from tests.factories.orders import RECIPIENT

REFUSALS = [
    ({"Items": []}, "/Items", "empty"),
    ({"Items": [{"ProductID": "card", "Quantity": 100}] * 2000}, "/Items", "max_length"),
    ({"Items": [{"ProductID": "none", "Quantity": 1}]}, "/Items/0/ProductID", "product_unknown"),
    ({"Items": [{"ProductID": "card", "Quantity": 1}]}, "/Items/0/Quantity", "quantity_below_minimum"),
    (
        {"Items": [{"ProductID": "card", "Quantity": 100, "TemplateData": {"Name": "x"}}]},
        "/Items/0/TemplateData",
        "template_data_not_allowed",
    ),
    (
        {"Recipient": {k: v for k, v in RECIPIENT.items() if k != "City"}},
        "/Recipient/City",
        "required",
    ),
    ({"Recipient": {**RECIPIENT, "Email": "dana at home"}}, "/Recipient/Email", "invalid"),
    ({"Recipient": {**RECIPIENT, "PostalCode": "8020"}}, "/Recipient/PostalCode", "invalid_postal_code"),
    ({"Recipient": {**RECIPIENT, "CountryCode": "DE"}}, "/Recipient/CountryCode", "destination_not_served"),
    ({"Recipient": {**RECIPIENT, "Name": "Ann \U0001d518"}}, "/Recipient/Name", "character_not_printable"),
    ({"DeliveryMethodCode": "PIGEON"}, "/DeliveryMethodCode", "delivery_method_unavailable"),
    ({"QuoteID": "none"}, "/OptionID", "required"),
    ({"QuoteID": "none", "OptionID": "GROUND-3"}, "/QuoteID", "quote_unknown"),
    ({"ReprintOfOrderID": "none"}, "/ReprintOfOrderID", "order_unknown"),
    ({"ExternalID": "a/b"}, "/ExternalID", "form"),
    ({"ExternalID": 20417}, "/ExternalID", "invalid"),
    ({"ExternalID": " PO-1"}, "/ExternalID", "form"),
    ({"ExternalID": "PO-1\u00a0"}, "/ExternalID", "form"),
    ({"ExternalID": "   "}, "/ExternalID", "blank"),
    ({"ExternalID": "\u200b"}, "/ExternalID", "blank"),
    ({"ExternalID": "PO\u202e1"}, "/ExternalID", "control_character"),
    ({"ExternalID": "PO\u00851"}, "/ExternalID", "control_character"),
    ({"ExternalID": "x" * 101}, "/ExternalID", "max_length"),
    ({"Recipient": {**RECIPIENT, "LocationType": "Home"}}, "/Recipient/LocationType", "invalid_choice"),
    ({"OptionID": "GROUND-3"}, "/QuoteID", "required"),
    ({"QuoteID": "none", "OptionID": "GROUND-3", "ProductionDays": 3}, "", "quote_or_method"),
    ({"Metadata": {"n" * 41: ""}}, "/Metadata", "name_too_long"),
    ({"Metadata": {"a": 1}}, "/Metadata/a", "invalid"),
    ({"Metadata": {str(n): "" for n in range(21)}}, "/Metadata", "too_many"),
    ({"Priority": 1}, "/Priority", "unknown_field"),
]
