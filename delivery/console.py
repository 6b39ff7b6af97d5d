"""Console integration of this app."""

from django.http import HttpRequest

from delivery.datasets.selectors import live_dataset
from fulfillment.core.plugins import Card, Entry

NAVIGATION = [
    Entry("Delivery", "EDDM data sets", "map", "delivery.dataset", 300),
    Entry("Delivery", "EDDM imports", "upload_file", "delivery.importrun", 305, minor=True),
    Entry("Delivery", "EDDM postage", "payments", "delivery.postageprice", 310, minor=True),
    Entry("Delivery", "PS Form 3587", "description", "delivery.officialform", 315, minor=True),
]
# By model: what the list is for, on the page *System*.
ABOUT = {
    "delivery.importrun": "Route files that were read, with their errors.",
    "delivery.postageprice": "Postage of a piece, by the day from which it is valid.",
    "delivery.officialform": "The form of the postal service that mailings print.",
}


def dashboard_cards(request: HttpRequest) -> list[Card]:
    if not getattr(request.user, "is_operator", False):
        return []
    return [Card("admin/dashboard/eddm.html", {"vintage": live_dataset()}, 400)]
