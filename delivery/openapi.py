"""Declarations for the OpenAPI document and the client libraries (`fulfillment.core.api.declarations`)."""

from fulfillment.core.api.declarations import BODY, ClientNames, Link, Tag

TAGS = (Tag("Delivery", "Delivery counts of postal codes and carrier routes, for direct mail.", 50),)
CLIENT_NAMES = ClientNames(
    groups={"delivery_eddm": "eddm"},
    methods={"delivery_eddm_selection_create": "select", "delivery_eddm_selection_read": "get_selection"},
)

LINKS = {
    "Selection": (
        Link(
            "delivery_eddm_selection_read",
            "Read it again, or as GeoJSON.",
            {"selectionID": f"{BODY}SelectionID"},
        ),
    ),
}

# What people type to find an operation, beside its own words.
SEARCHED_AS = {
    "delivery_eddm_list": (
        "how many households; count addresses; households in a zip code; "
        "carrier routes of a zip code; route counts"
    ),
    "delivery_eddm_selection_create": (
        "choose carrier routes; mailing area; every door direct mail; select routes; target an area; "
        "draw a polygon; direct mail"
    ),
    "delivery_eddm_selection_read": "get a selection; routes of a selection; geojson of routes",
}
