"""Preflight on orders: an error refuses the whole order with the list, a warning is kept with its item."""

import pytest

from stores.orders.models import Order, OrderItem
from stores.presets.models import PrintPreset
from stores.proofs.models import Proof
from tests.factories.orders import make_product, order_body
from tests.factories.templates import field, page, text_box


@pytest.fixture
def small_print(shop):
    """Its words are set in 4 points: a warning. The other product's second box is beside its page: an error."""
    fields = [field("Words")]
    small = {"Pages": [page(text_box("Words", Size=4))]}
    beside = {"Pages": [page(text_box("Words", Size=4), text_box("Words", X=120, Width=40))]}
    make_product(shop.store, "beside", TemplateFields=fields, Template=beside)
    return make_product(shop.store, "small", TemplateFields=fields, Template=small)


def line(product, words="Ada Lovelace"):
    return {"ProductID": product, "Quantity": 100, "TemplateData": {"Words": words}}


def place(shop, *lines, **extra):
    return shop.place(body=order_body(Items=list(lines)), **extra)


def test_warning_is_the_same_in_the_proof_on_the_item_and_in_the_export(shop, small_print):
    client = shop.world.as_application()
    proof = client.call("POST", "/store/associated/product/small/proof", {"Words": "Ada Lovelace"}).json()
    [finding] = proof["Preflight"]
    assert (finding["Code"], finding["Severity"], finding["Page"]) == ("text_too_small", "Warning", 1)
    assert set(finding) == {"Code", "Severity", "Page", "Box", "Found", "Wanted", "Message", "Remedy"}

    order = place(shop, line("small")).json()

    assert order["Items"][0]["Preflight"] == [finding]
    assert client.call("GET", f"/store/associated/order/{order['OrderID']}").json()["Items"] == order["Items"]
    staff = shop.world.as_user(shop.world.user)
    [row] = staff.call("GET", "/store/associated/order/exportview?verbose=true").json()
    assert row["Items"][0]["Preflight"] == [finding]


def test_error_refuses_the_order_with_all_findings(shop, small_print, stored_files):
    before = stored_files()

    refused = place(shop, line("small"), line("beside"))

    assert refused.status_code == 400
    problem = refused.json()
    assert (problem["Code"], problem["ErrorCount"]) == ("preflight_failed", 1)
    assert [(error["Pointer"], error["Code"]) for error in problem["Errors"]] == [
        ("/Items/1", "box_off_page")
    ]
    findings = [(finding["Code"], finding["Severity"]) for finding in problem["Preflight"]]
    assert findings == [
        ("text_too_small", "Warning"),
        ("box_off_page", "Error"),
        ("text_too_small", "Warning"),
    ]
    assert not Order.objects.exists()
    assert stored_files() == before


def test_error_does_not_refuse_a_proof(shop, small_print):
    client = shop.world.as_application()

    proof = client.call("POST", "/store/associated/product/beside/proof", {"Words": "Ada"})

    assert proof.status_code == 200
    assert [finding["Severity"] for finding in proof.json()["Preflight"]] == ["Error", "Warning"]


def test_known_proof_keeps_its_findings_until_the_preset_changes(shop, small_print, monkeypatch):
    client = shop.world.as_application()
    path, values = "/store/associated/product/small/proof", {"Words": "Ada Lovelace"}
    first = client.call("POST", path, values).json()["Preflight"]
    monkeypatch.setattr(
        "stores.proofs.services.proofs.preflight_records", lambda **_: pytest.fail("looked again")
    )
    assert client.call("POST", path, values).json()["Preflight"] == first
    monkeypatch.undo()

    preset = PrintPreset.objects.create(code="strict", name="Strict", severities={"text_too_small": "Error"})
    type(small_print).objects.filter(pk=small_print.pk).update(preset=preset)

    assert [finding["Severity"] for finding in client.call("POST", path, values).json()["Preflight"]] == [
        "Error"
    ]
    assert Proof.objects.count() == 2
    assert place(shop, line("small")).json()["Code"] == "preflight_failed"


def test_sound_order_has_an_empty_list(shop, small_print):
    make_product(
        shop.store, "sound", TemplateFields=[field("Words")], Template={"Pages": [page(text_box("Words"))]}
    )

    placed = place(shop, line("sound"), line("small")).json()

    assert [len(item["Preflight"]) for item in placed["Items"]] == [0, 1]
    assert OrderItem.objects.filter(preflight__isnull=True).count() == 1
