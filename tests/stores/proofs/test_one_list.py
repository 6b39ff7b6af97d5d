"""Proof, press proof, quote and order of a PDF have one list of findings, whatever is in the PDF."""

import io
from decimal import Decimal

import pikepdf
import pytest

from tests.factories.orders import make_product, order_body
from tests.support.printing.plate_samples import samples

# Of a third of the samples: one file of all of them would take too long to read.
PAGES = 23
SAMPLES = samples()
NAMES = list(SAMPLES)


def joined(names):
    """One PDF with a page of each sample: reading and drawing are paid for once."""
    with pikepdf.new() as pdf:
        for name in names:
            with pikepdf.open(io.BytesIO(SAMPLES[name])) as one:
                pdf.pages.extend(one.pages)
        out = io.BytesIO()
        pdf.save(out)
    return out.getvalue()


def found_by(response):
    """The findings of a quote or an order, refused or not, without what names the item."""
    record = response.json()
    listed = record["Items"][0]["Preflight"] if "OrderID" in record else record["Preflight"]
    return [{key: value for key, value in finding.items() if key != "ItemKey"} for finding in listed]


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, len(NAMES), PAGES))
def test_proof_quote_and_order_of_a_pdf_have_the_same_findings(shop, start):
    names = NAMES[start : start + PAGES]
    client, size = shop.world.as_application(), {"WidthMM": Decimal("88.9"), "HeightMM": Decimal("50.8")}
    make_product(shop.store, "leaflet", PageCount=len(names), **size)
    upload = client.post(
        "/api/v1/store/associated/asset", joined(names), content_type="application/pdf"
    ).json()
    artwork, path = {"AssetID": upload["AssetID"]}, "/store/associated/product/leaflet/artwork"
    items = [{"ProductID": "leaflet", "Quantity": 100, "Artwork": artwork}]

    proof, press_proof = (
        client.call("POST", path + kind, artwork).json()["Preflight"] for kind in ("", "?proof=press")
    )
    quoted = client.call("POST", "/store/associated/quote", {"Items": items, "ShipTo": {"CountryCode": "US"}})
    placed = shop.place(body=order_body(Items=items))

    assert press_proof == found_by(quoted) == found_by(placed) == proof
    assert quoted.status_code == placed.status_code
