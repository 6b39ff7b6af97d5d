"""The orders of the demo: items, age, recipient and status; and their pictures, for the first look at the list."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from accounts.callers import Caller
from accounts.demo import USER
from fulfillment.core.errors import DomainError
from printing.typesetting import load_sample
from stores.orders.models import OrderItem, OrderStatus
from stores.orders.requests import OrderRequest, PriceRequest, PriceRequestItem
from stores.orders.services.print_files import print_picture

TEMPLATES = Path(__file__).resolve().parent / "templates"
STUDIO, OWN = "Flyer Studio", "demo-application"
SUMMIT, HARBOR = "summit-print", "harbor-press"
# The usual statuses one after the other, and how many hours after the order each is reached.
USUAL_PATH: tuple[tuple[int, float], ...] = (
    (OrderStatus.ACCEPTED, 2),
    (OrderStatus.IN_PRODUCTION, 21),
    (OrderStatus.SHIPPED, 70),
    (OrderStatus.DELIVERED, 160),
    (OrderStatus.RETURNED, 270),
)
STATUS_PATHS: dict[int, tuple[tuple[int, float], ...]] = {
    **{status: USUAL_PATH[:count] for count, (status, _) in enumerate(USUAL_PATH, 1)},
    OrderStatus.RECEIVED: (),
    OrderStatus.ON_HOLD: ((OrderStatus.ON_HOLD, 3),),
    OrderStatus.PARTIALLY_SHIPPED: (*USUAL_PATH[:2], (OrderStatus.PARTIALLY_SHIPPED, 74)),
    OrderStatus.CANCELLED: ((OrderStatus.CANCELLED, 0.5),),
    OrderStatus.REJECTED: ((OrderStatus.REJECTED, 5),),
}
CITIES = (
    ("Denver", "CO", "80202", "US"),
    ("Portland", "OR", "97205", "US"),
    ("Austin", "TX", "78701", "US"),
    ("Columbus", "OH", "43215", "US"),
    ("Boise", "ID", "83702", "US"),
)
CANADA = (("Vancouver", "BC", "V6B 1A1", "CA"), ("Calgary", "AB", "T2P 1J9", "CA"))
PEOPLE = (
    ("Dana Whitfield", "Whitfield Realty"),
    ("Luis Ortega", ""),
    ("Priya Rao", "Rao & Daughters"),
    ("Hannah Becker", "Blue Door Bakery"),
    ("Omar Haddad", ""),
    ("Grace Kim", "Kim Dental"),
    ("Tomás Novak", "Novak Cycles"),
    ("Ingrid Sato", ""),
    ("Jamal Reed", "Reed Brothers Roofing"),
    ("Wei Zhang", "Lotus Garden"),
    ("Fiona O'Neill", ""),
)
# The field of a template that carries the customer's name.
NAMED = {"business-card-standard": "Name", "business-card-square": "Name", "postcard-5x7": "Agent"}
CARD, SQUARE = (("business-card-standard", 500),), (("business-card-square", 250),)
POSTCARD, LISTING = (("postcard-4x6", 250),), (("postcard-5x7", 250),)
FLYER, PAPER = (("flyer-8.5x11", 250),), (("letterhead-8.5x11", 500), ("envelope-10", 500))
STICKER, BANNER, MUG = (("sticker-round-3in", 100),), (("banner-vinyl-6x3", 2),), (("mug-wrap-11oz", 24),)
SIGN, POSTER, SHIRT = (("yard-sign-24x18", 20),), (("poster-18x24", 10),), (("tshirt-classic", 36),)
CLASSIC, MENU, TOTE = (
    (("business-card-classic", 500),),
    (("menu-laminated-8.5x11", 50),),
    (("tote-bag-organic", 50),),
)
FAST = {"method": "OVERNIGHT"}
ROWS: tuple[Any, ...] = (
    (29.4, OrderStatus.DELIVERED, SUMMIT, STUDIO, FLYER, {}),
    (28.6, OrderStatus.DELIVERED, SUMMIT, OWN, CARD, {}),
    (27.3, OrderStatus.RETURNED, SUMMIT, STUDIO, LISTING, {"note": "Address unknown, the parcel came back."}),
    (26.5, OrderStatus.DELIVERED, HARBOR, STUDIO, CLASSIC, {}),
    (25.7, OrderStatus.DELIVERED, SUMMIT, STUDIO, STICKER, {}),
    (24.2, OrderStatus.CANCELLED, SUMMIT, OWN, POSTER, {"note": "Ordered twice by mistake."}),
    (22.8, OrderStatus.DELIVERED, SUMMIT, OWN, PAPER, {}),
    (21.6, OrderStatus.DELIVERED, HARBOR, STUDIO, MENU, {}),
    (
        20.4,
        OrderStatus.REJECTED,
        SUMMIT,
        STUDIO,
        SHIRT,
        {"note": "The photo has too low a resolution to print."},
    ),
    (19.5, OrderStatus.DELIVERED, SUMMIT, STUDIO, POSTCARD, {}),
    (18.3, OrderStatus.DELIVERED, SUMMIT, OWN, SQUARE, FAST),
    (17.9, OrderStatus.DELIVERED, SUMMIT, "lena", FLYER, {}),
    (
        17.2,
        OrderStatus.IN_PRODUCTION,
        SUMMIT,
        STUDIO,
        BANNER,
        {"comment": "The vinyl is out of stock; new rolls come on Friday. Customer knows."},
    ),
    (16.5, OrderStatus.RETURNED, HARBOR, STUDIO, TOTE, {"note": "Refused by the recipient."}),
    (
        15.4,
        OrderStatus.PARTIALLY_SHIPPED,
        SUMMIT,
        OWN,
        PAPER,
        {"note": "Letterheads left, envelopes follow.", "comment": "Envelopes: reprint after a jam."},
    ),
    (14.3, OrderStatus.ON_HOLD, HARBOR, STUDIO, MENU, {"note": "Waiting for the corrected price list."}),
    (13.5, OrderStatus.DELIVERED, SUMMIT, STUDIO, MUG, {}),
    (13.1, OrderStatus.DELIVERED, SUMMIT, "aisha", CARD, {}),
    (12.6, OrderStatus.SHIPPED, SUMMIT, STUDIO, LISTING, {}),
    (11.4, OrderStatus.DELIVERED, SUMMIT, OWN, CARD, FAST),
    (10.3, OrderStatus.SHIPPED, SUMMIT, STUDIO, FLYER, {}),
    (9.6, OrderStatus.CANCELLED, HARBOR, STUDIO, CLASSIC, {"note": "The customer moved."}),
    (8.5, OrderStatus.DELIVERED, SUMMIT, OWN, STICKER, {}),
    (7.9, OrderStatus.DELIVERED, SUMMIT, "marco", POSTCARD, {}),
    (7.4, OrderStatus.SHIPPED, SUMMIT, STUDIO, SIGN, {}),
    (6.6, OrderStatus.ACCEPTED, SUMMIT, STUDIO, SQUARE, FAST),
    (5.7, OrderStatus.SHIPPED, HARBOR, STUDIO, MENU, {}),
    (5.3, OrderStatus.IN_PRODUCTION, SUMMIT, OWN, POSTCARD, {}),
    (5.1, OrderStatus.CANCELLED, SUMMIT, "lena", CARD, {"note": "The job title was wrong."}),
    (
        4.6,
        OrderStatus.IN_PRODUCTION,
        SUMMIT,
        STUDIO,
        CARD,
        {"cancellation": "We found a wrong phone number on the card."},
    ),
    (4.2, OrderStatus.IN_PRODUCTION, HARBOR, STUDIO, TOTE, {}),
    (3.6, OrderStatus.PARTIALLY_SHIPPED, SUMMIT, STUDIO, PAPER, {}),
    (3.2, OrderStatus.ACCEPTED, SUMMIT, OWN, LISTING, {}),
    (2.7, OrderStatus.IN_PRODUCTION, SUMMIT, STUDIO, FLYER, {}),
    (
        2.4,
        OrderStatus.ON_HOLD,
        SUMMIT,
        STUDIO,
        CARD,
        {"comment": "Logo looks blurred. Asked for a better file."},
    ),
    (2.1, OrderStatus.IN_PRODUCTION, SUMMIT, OWN, MUG, {}),
    (1.7, OrderStatus.ACCEPTED, HARBOR, STUDIO, CLASSIC, {}),
    (1.4, OrderStatus.ACCEPTED, SUMMIT, STUDIO, POSTCARD, {}),
    (1.1, OrderStatus.REJECTED, SUMMIT, STUDIO, POSTER, {"note": "Copyrighted artwork."}),
    (0.8, OrderStatus.RECEIVED, SUMMIT, STUDIO, LISTING, {}),
    (0.5, OrderStatus.RECEIVED, SUMMIT, OWN, CARD, FAST),
    (0.4, OrderStatus.RECEIVED, SUMMIT, "lena", CARD, {}),
    (0.2, OrderStatus.RECEIVED, SUMMIT, "marco", FLYER, {}),
    (0.3, OrderStatus.RECEIVED, HARBOR, STUDIO, MENU, {}),
    (0.12, OrderStatus.RECEIVED, SUMMIT, STUDIO, FLYER, {}),
    (0.03, OrderStatus.RECEIVED, SUMMIT, OWN, SQUARE, {}),
    (
        1.2,
        OrderStatus.RECEIVED,
        SUMMIT,
        USER.username,
        FLYER,
        {"denial": "Sales has 300 of last month's left."},
    ),
    (0.1, OrderStatus.RECEIVED, SUMMIT, USER.username, FLYER, {}),
)


@dataclass(frozen=True, slots=True)
class DemoOrder:
    """Placed `days` ago by an application or a person of the company, now in `status`."""

    index: int
    days: float
    status: int
    store_id: str
    caller: str
    products: tuple[tuple[str, int], ...]
    method: str | None = None
    note: str = ""
    comment: str = ""
    cancellation: str = ""
    denial: str = ""


ORDERS = tuple(DemoOrder(index, *row[:5], **row[5]) for index, row in enumerate(ROWS))


def transitions_of(order: DemoOrder, placed: datetime, now: datetime) -> list[tuple[int, datetime]]:
    return [
        (status, min(placed + timedelta(hours=hours), now)) for status, hours in STATUS_PATHS[order.status]
    ]


def order_request(order: DemoOrder, now: datetime) -> OrderRequest:
    name, company = PEOPLE[order.index % len(PEOPLE)]
    places = CANADA if order.store_id == HARBOR else CITIES
    city, state, postal_code, country = places[order.index % len(places)]
    items = tuple(
        PriceRequestItem(str(number), product_id, quantity)
        for number, (product_id, quantity) in enumerate(order.products, 1)
    )
    return OrderRequest(
        price_request=PriceRequest(items, country, "", order.method, destination_pointer="/Recipient"),
        recipient={
            "Name": name,
            "Company": company,
            "Address1": f"{100 + order.index * 37} {('Main Street', 'Oak Avenue', 'Mill Road')[order.index % 3]}",
            "Address2": "",
            "City": city,
            "State": state,
            "PostalCode": postal_code,
            "CountryCode": country,
            "Phone": f"+1 303 555 {100 + order.index:04}",
            "Email": f"{name.split()[0].lower()}@example.com" if name.isascii() else "",
        },
        template_data=[_data(item.product_id, name, order.store_id) for item in items],
        external_id=f"WEB-{10400 + order.index * 3}",
        placed=now - timedelta(days=order.days),
    )


def _data(product_id: str, name: str, store_id: str) -> dict[str, Any] | None:
    folder = TEMPLATES / product_id
    if store_id == HARBOR or not folder.is_dir():
        return None
    sample: dict[str, Any] = dict(load_sample(folder))
    if product_id in NAMED:
        sample[NAMED[product_id]] = name
    return sample


def draw_pictures() -> None:
    """Draws what is not stored yet; a picture that is refused is drawn when it is first shown."""
    items = OrderItem.objects.exclude(print_file="").select_related("order").order_by("-order__number")
    for item in items[: 2 * len(ORDERS)]:
        with suppress(DomainError):
            print_picture(item=item, page=0, size="small", caller=Caller())
