"""A proof says what the order of the same data says."""

import io

import pytest
from PIL import Image

from stores.orders.models import Order
from stores.proofs.models import Asset
from tests.factories.orders import make_product, order_body
from tests.factories.presets import PrintPresetFactory
from tests.factories.templates import field, page

PHOTO = {"Field": "Photo", "Kind": "Image", "X": 5, "Y": 5, "Width": 40, "Height": 30, "Fit": "cover"}


def heavy():
    """A CMYK JPEG, dark with 383% of ink above and light below."""
    picture = Image.new("CMYK", (480, 360), (20, 20, 20, 0))
    picture.paste((249, 244, 242, 242), (0, 0, 480, 180))
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=95)
    return out.getvalue()


@pytest.mark.parametrize(("policy", "severity"), [("CMYK", "Error"), ("Managed", "Warning"), (None, "Error")])
def test_too_much_ink_of_an_upload_is_the_same_in_proof_and_order(shop, stored_files, policy, severity):
    if policy:
        PrintPresetFactory(code="coated", policy=policy)
    fields = [field("Photo", Type="Image", SubType="Upload")]
    make_product(
        shop.store,
        "photo",
        TemplateFields=fields,
        Template={"Pages": [page(PHOTO)]},
        **({"Preset": "coated"} if policy else {}),
    )
    client = shop.world.as_application()
    asset = client.post("/api/v1/store/associated/asset", heavy(), content_type="image/jpeg").json()
    values = {"Photo": asset["AssetID"]}

    proofs = [
        client.call("POST", f"/store/associated/product/photo/proof?proof={kind}", values).json()["Preflight"]
        for kind in ("screen", "press")
    ]
    body = order_body(Items=[{"ProductID": "photo", "Quantity": 100, "TemplateData": values}])
    placed = shop.place(body=body)

    assert proofs[0] == proofs[1]
    assert [(finding["Code"], finding["Severity"]) for finding in proofs[0]] == [("total_ink_high", severity)]
    if severity == "Error":
        assert placed.status_code == 400
        assert placed.json()["Preflight"] == proofs[0]
        assert not Order.objects.exists()
    else:
        assert placed.json()["Items"][0]["Preflight"] == proofs[0]


def of_inks(*inks):
    picture = Image.new("CMYK", (480, 360))
    picture.paste(inks, (0, 0, 480, 180))
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=100, subsampling=0)
    return out.getvalue()


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_pictures_that_look_alike_on_screens_keep_their_own_findings(shop, stored_files, order):
    """Black alone, and all inks: both are black."""
    fields = [field("Photo", Type="Image", SubType="Upload")]
    make_product(shop.store, "photo", TemplateFields=fields, Template={"Pages": [page(PHOTO)]})
    client = shop.world.as_application()
    pictures = [of_inks(0, 0, 0, 255), of_inks(255, 255, 255, 255)]
    assets = [
        client.post("/api/v1/store/associated/asset", picture, content_type="image/jpeg").json()
        for picture in pictures
    ]
    assert len(set(Asset.objects.values_list("sha256", flat=True))) == 1

    for number in order:
        values = {"Photo": assets[number]["AssetID"]}
        proof = client.call("POST", "/store/associated/product/photo/proof", values).json()
        placed = shop.place(
            body=order_body(Items=[{"ProductID": "photo", "Quantity": 100, "TemplateData": values}])
        )

        codes = [finding["Code"] for finding in proof["Preflight"]]
        assert ("total_ink_high" in codes, placed.status_code) == (bool(number), 400 if number else 201)
