"""The papers of a mailing as plain data for papers.typ: drop list, bundle plan, form data, facing slips."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from itertools import groupby
from pathlib import Path
from typing import Any

from delivery.papers.boxes import GRAMS_PER_OUNCE, boxes_of
from delivery.papers.planning import MIN_MAILING, Bundle, Drop, DropRoute
from printing.barcodes import code_128_runs

LAYOUT = Path(__file__).parent / "papers.typ"
MM_PER_INCH = Decimal("25.4")
CENT = Decimal("0.01")
NOTHING = Decimal("0.00")
US_PHONE = re.compile(r"(\+?1[ .-]?)?(\([2-9]\d\d\)|[2-9]\d\d)[ .-]?[2-9]\d\d[ .-]?\d{4}", re.ASCII)
TIMES = "\u00d7"


@dataclass(frozen=True, slots=True)
class Mailing:
    """The data of the papers beside the routes. `day_date` returns the date of day 1, 2, …"""

    order_number: str
    item_key: str
    product: str
    preparer: str
    mailer: Sequence[str]
    phone: str
    email: str
    size_mm: tuple[Decimal, Decimal]
    vintage: str
    day_date: Callable[[int], date]
    is_residential_only: bool = False
    is_synthetic: bool = False
    is_test: bool = False
    piece_weight_g: Decimal | None = None
    thickness_mm: Decimal | None = None
    crid: str = ""
    payment: str = ""
    company: str = ""


@dataclass(frozen=True, slots=True)
class Postage:
    """The price of a piece from a day on."""

    per_piece: Decimal
    starts: date

    def of(self, pieces: int) -> Decimal:
        return (self.per_piece * pieces).quantize(CENT, ROUND_HALF_UP)


PostageOn = Callable[[date], Postage | None]


def _mailing_record(mailing: Mailing) -> dict[str, Any]:
    return {
        "order": mailing.order_number,
        "item": mailing.item_key,
        "product": mailing.product,
        "preparer": mailing.preparer,
        "mailer": [line for line in mailing.mailer if line != "US"],
        "mailer_name": mailing.company or next(iter(mailing.mailer), mailing.preparer),
        "phone": us_phone(mailing.phone),
        "email": mailing.email,
        "size": _convert_size(mailing.size_mm),
        "weight": _convert_measure(mailing.piece_weight_g, GRAMS_PER_OUNCE, "oz"),
        "thickness": _convert_measure(mailing.thickness_mm, MM_PER_INCH, "in"),
        "crid": mailing.crid,
        "payment": mailing.payment,
        "vintage": mailing.vintage,
        "addressee": "Residential Customer" if mailing.is_residential_only else "Postal Customer",
        "synthetic": mailing.is_synthetic,
        "test": mailing.is_test,
    }


def make_sheets(mailing: Mailing, drops: Sequence[Drop], postage_on: PostageOn) -> dict[str, Any]:
    """All texts are data to the layout, never markup."""
    sheets = [_drop_sheet(mailing, drop, postage_on) for drop in drops]
    boxes = [
        box
        for drop, sheet in zip(drops, sheets, strict=True)
        for box in boxes_of(drop, sheet["date"], mailing.piece_weight_g, mailing.size_mm)
    ]
    box_of = {code: box for box in boxes for code in box.pop("barcodes")}
    return {
        **_mailing_record(mailing),
        "boxes": boxes,
        "drops": sheets,
        # Set by the caller, which fills the official form.
        "note": "",
        "forms": 0,
        "routes": len({bundle.route for drop in drops for bundle in drop.bundles}),
        "bundles": sum(sheet["bundles"] for sheet in sheets),
        "pieces": sum(sheet["pieces"] for sheet in sheets),
        "postage": _total_postage(sheets),
        "slips": [
            _make_slip(drop, sheet, bundle, box_of[bundle.code])
            for drop, sheet in zip(drops, sheets, strict=True)
            for bundle in drop.bundles
        ],
    }


def _drop_sheet(mailing: Mailing, drop: Drop, postage_on: PostageOn) -> dict[str, Any]:
    day = mailing.day_date(drop.day)
    postage = postage_on(day)
    rows = [_route_row(route, bundles) for route, bundles in drop.routes()]
    return {
        "office": drop.entry_office,
        "day": drop.day,
        "date": long_date(day),
        "date_short": day.strftime("%m/%d/%Y"),
        "rows": rows,
        "codes": [
            {"code": code, "pieces": sum(row["pieces"] for row in group), "routes": len(group)}
            for code, group in _by_code(rows)
        ],
        "bundles": len(drop.bundles),
        "pieces": drop.pieces,
        "rate": f"{postage.per_piece.normalize():f}" if postage else None,
        "rate_starts": long_date(postage.starts) if postage else None,
        "postage": f"{postage.of(drop.pieces)}" if postage else None,
        "notes": _make_notes(drop, postage),
    }


def _route_row(route: DropRoute, bundles: Sequence[Bundle]) -> dict[str, Any]:
    sizes = [bundle.pieces for bundle in bundles]
    parts = [f"{len(list(group))} {TIMES} {size}" for size, group in groupby(sizes)]
    return {
        "code": route.postal_code,
        "route": route.carrier_route,
        "pieces": sum(sizes),
        "bundles": len(sizes),
        "plan": ", ".join(parts),
        "is_part": sum(sizes) < route.pieces,
        "of": route.pieces,
    }


def _by_code(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[Mapping[str, Any]]]]:
    return [(code, list(group)) for code, group in groupby(rows, lambda row: row["code"])]


def _make_notes(drop: Drop, postage: Postage | None) -> list[str]:
    notes = []
    if drop.is_below_minimum:
        notes.append(
            f"{drop.pieces} pieces: an EDDM Retail mailing needs at least {MIN_MAILING}. Add routes of "
            f"this office."
        )
    if postage is None:
        notes.append("The price table has no postage for this day: the post office calculates it.")
    return notes


def _make_slip(
    drop: Drop, sheet: Mapping[str, Any], bundle: Bundle, box: Mapping[str, Any]
) -> dict[str, Any]:
    columns, runs = code_128_runs(bundle.code)
    return {
        "code": bundle.route.postal_code,
        "route": bundle.route.carrier_route,
        "pieces": bundle.pieces,
        "number": bundle.number,
        "count": bundle.count,
        "of": bundle.route.pieces,
        "office": drop.entry_office,
        "date": sheet["date"],
        "box": box["number"],
        "boxes": box["count"],
        "barcode": bundle.code,
        "columns": columns,
        "bars": [(start, width) for start, _, width in runs],
    }


def _total_postage(sheets: Sequence[Mapping[str, Any]]) -> str | None:
    amounts = [sheet["postage"] for sheet in sheets]
    return None if None in amounts else f"{sum(map(Decimal, amounts), NOTHING)}"


def _convert_measure(metric: Decimal | None, per_unit: Decimal, unit: str) -> str:
    return "" if metric is None else f"{metric / per_unit:.3f} {unit}"


def _convert_size(millimetres: tuple[Decimal, Decimal]) -> str:
    long, short = sorted((round(side / MM_PER_INCH, 2).normalize() for side in millimetres), reverse=True)
    return f"{long:f} {TIMES} {short:f} in"


def us_phone(phone: str) -> str:
    """(801) 555-0100; other numbers, such as those with an extension, as they are."""
    if not US_PHONE.fullmatch(phone.strip()):
        return phone
    digits = "".join(letter for letter in phone if letter.isdigit())[-10:]
    return f"({digits[:3]}) {digits[3:6]}-{digits[6:]}"


def long_date(day: date) -> str:
    return f"{day:%a, %b} {day.day}, {day.year}"
