"""Console integration of this app."""

from django.http import HttpRequest

from delivery.datasets.selectors import live_dataset
from fulfillment.core.plugins import Card, Entry

NAVIGATION = [
    Entry("Delivery", "EDDM data sets", "map", "delivery.dataset", 300),
    Entry(
        "Delivery",
        "EDDM imports",
        "upload_file",
        "delivery.importrun",
        305,
        minor=True,
        about="Route files that were read, with their errors.",
    ),
    Entry(
        "Delivery",
        "EDDM postage",
        "payments",
        "delivery.postageprice",
        310,
        minor=True,
        about="Postage of a piece, by the day from which it is valid.",
    ),
    Entry(
        "Delivery",
        "PS Form 3587",
        "description",
        "delivery.officialform",
        315,
        minor=True,
        about="The form of the postal service that mailings print.",
    ),
]


def dashboard_cards(request: HttpRequest) -> list[Card]:
    if not getattr(request.user, "is_operator", False):
        return []
    return [Card("admin/dashboard/eddm.html", {"vintage": live_dataset()}, 400)]
