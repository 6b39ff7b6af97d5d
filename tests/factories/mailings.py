"""Mailings of EDDM and the routes they go to."""

from datetime import date, timedelta
from decimal import Decimal

from delivery.papers.planning import DropRoute
from delivery.papers.sheets import Mailing, Postage

PRICE = Postage(Decimal("0.247"), date(2026, 7, 12))
OFFICES = ["", "SALT LAKE CITY MAIN", "SUGAR HOUSE", "KEARNS"]


def random_routes(chance):
    """Routes of up to four ZIP codes; some tiny, some larger than a day takes."""
    codes = chance.sample(range(10_000, 99_999), chance.randint(1, 4))
    top = chance.choice([60, 800, 800, 800, 12_000])
    return [
        DropRoute(f"{code}", f"C{number:03}", chance.choice(OFFICES), chance.randint(1, top))
        for code in codes
        for number in range(chance.randint(1, 15))
    ]


def make_mailing(**other):
    facts = {
        "order_number": "1000234",
        "item_key": "1",
        "product": "EDDM Mailer",
        "preparer": "Springfield Print",
        "mailer": ["Dana Example", "12 Main St"],
        "phone": "",
        "email": "dana@example.com",
        "size_mm": (Decimal("165.1"), Decimal("228.6")),
        "vintage": "2026-10",
        "day_date": lambda day: date(2026, 11, 22) + timedelta(day),
    }
    return Mailing(**(facts | other))
