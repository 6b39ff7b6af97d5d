"""Writes a catalog file of any size: `python -m tests.benchmarks.catalog_file 100000 big.json`."""

import sys
from collections.abc import Iterator
from pathlib import Path

import orjson

METHODS = ("GROUND", "TWO_DAY")


def product_record(number: int) -> dict[str, object]:
    """A product with nine children: three fields, four prices, two speeds."""
    return {
        "ID": f"product-{number:06d}",
        "APIKey": f"PR-{number:06d}",
        "Name": f"Postcard {number}, 16 pt",
        "Description": f"Full color on both sides, satin coated, made to order. Article {number}. " * 2,
        "Category": f"Category {number % 40}",
        "ImageURL": f"/static/catalog/{number % 40}.svg",
        "DefaultQty": 500,
        "MinimumQty": 100,
        "MaximumQty": 10_000,
        "IncrementQty": 100,
        "DeliveryMethod": "GROUND",
        "PageCount": 2,
        "WidthMM": 152.4,
        "HeightMM": 101.6,
        "IsActive": True,
        "TemplateFields": [
            {
                "FieldName": name,
                "Prompt": f"{name} on the card",
                "Type": "Text",
                "SubType": "SingleLine",
                "Required": name == "Headline",
                "DefaultValue": "",
                "OrgValue": "",
                "Choices": [],
            }
            for name in ("Headline", "Address", "Phone")
        ],
        "DeliveredPrices": [
            {
                "DeliveryMethodCode": method,
                "Description": f"{method} to your door",
                "Price": (number % 900 + 10 + step) / 100,
                "Country": "United States",
                "CountryCode": "US",
                "LocationType": place,
                "IsDefault": step == 0,
            }
            for step, (method, place) in enumerate(
                (method, place) for method in METHODS for place in ("Commercial", "Residential")
            )
        ],
        "ProductionSpeeds": [{"Days": 3, "IsDefault": True}, {"Days": 1, "IsDefault": False}],
    }


def catalog_file(count: int, store_id: str = "benchmark") -> Iterator[bytes]:
    yield (
        b'{"Format": "store-fulfillment-catalog", "Version": 1, "Stores": [{"StoreID": "%s", '
        % store_id.encode()
    )
    yield b'"CompanyName": "Benchmark Print", "Products": ['
    for number in range(count):
        yield (b",\n" if number else b"\n") + orjson.dumps(product_record(number), option=orjson.OPT_INDENT_2)
    yield b"\n]}]}\n"


if __name__ == "__main__":
    with Path(sys.argv[2]).open("wb") as target:
        target.writelines(catalog_file(int(sys.argv[1])))
