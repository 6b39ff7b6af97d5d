"""Every row is checked by the rules of an order and by rendering it."""

from io import BytesIO
from uuid import uuid4

import pytest
from django.utils import translation
from PIL import Image

from applications.webhooks.models import Event
from fulfillment.core.recorded_texts import translated
from stores.batches.selectors.batches import counts_of
from stores.batches.services.batches import start_check
from stores.batches.services.checking import correct_row
from stores.catalog.models import Product
from stores.proofs.models import Proof
from tests.factories.pictures import make_photo_card
from tests.support.batches.batches import addressed, checked, fresh, make_batch, person, states_of

pytestmark = pytest.mark.django_db


def problems_of(batch):
    return [row.problems for row in batch.rows.order_by("number")]


def test_good_rows_are_ready_and_priced_and_have_a_proof(access):
    batch = checked(make_batch(access, [person(1), person(2)]))

    assert (batch.status, states_of(batch)) == ("Checked", ["Ready", "Ready"])
    counts = counts_of(batch)
    assert (str(counts.total), counts.pieces, counts.errors) == ("24.00", 200, 0)
    proofs = set(batch.rows.values_list("proof", flat=True))
    assert len(proofs) == 2
    assert set(Proof.objects.values_list("digest", flat=True)) == proofs


FAULTS = [
    ({"Name": ""}, "Name", "Name"),
    ({"Mail": "nowhere"}, "Email", "Mail"),
    ({"Name": "Long " * 60}, "Name", "Name"),
    ({"Name": "\N{CUNEIFORM SIGN A} \ue000"}, "Name", "Name"),
    ({"Pieces": "125"}, "Quantity", "Pieces"),
    ({"Pieces": "12"}, "Quantity", "Pieces"),
    ({"Pieces": "99999"}, "Quantity", "Pieces"),
    ({"Pieces": "many"}, "Quantity", "Pieces"),
    ({"Zip": "8020"}, "Recipient.PostalCode", "Zip"),
    ({"Zip": ""}, "Recipient.PostalCode", "Zip"),
    ({"Land": "Texas"}, "Recipient.CountryCode", "Land"),
    ({"Land": "FR"}, "Recipient.CountryCode", "Land"),
    ({"Street": ""}, "Recipient.Address1", "Street"),
    ({"Town": "x" * 101}, "Recipient.City", "Town"),
    ({"Addressee": "\ue000"}, "Recipient.Name", "Addressee"),
]


def test_fault_is_named_with_its_field_column_value_and_remedy(access):
    rows = [addressed(number, **cells) for number, (cells, _, _) in enumerate(FAULTS)]
    batch = checked(make_batch(access, [*rows, addressed(99)], mode="Recipients"))

    *wrong, right = batch.rows.order_by("number")
    assert right.state == "Ready"
    for row, (cells, field, column) in zip(wrong, FAULTS, strict=True):
        assert row.state == "Error", cells
        [problem] = row.problems
        said = (problem["Severity"], problem["Field"], problem["Column"], problem["Value"])
        assert said == ("Error", field, column, cells[column])
        assert problem["Code"]
        assert problem["Message"]
        assert column in problem["Remedy"]
        assert "Items/0" not in problem["Message"]
        with translation.override("de"):
            assert f"Spalte {column}" in translated(problem["Remedy"])


def test_picture_that_is_too_coarse_or_missing_is_named_at_its_cell(access, world):
    client, noise = world.as_application(), Image.effect_noise((240, 240), 80)
    coarse, fine = (_picture(client, noise.resize((side, side))) for side in (40, 240))
    rows = [{"Portrait": asset_id} for asset_id in (coarse, fine, str(uuid4()))]
    product = make_photo_card(access.store)
    batch = make_batch(access, rows, product_id=product.external_id, mapping={"Photo": "Portrait"})

    problems_by_row = problems_of(checked(batch))

    said = [
        {
            (problem["Severity"], problem["Code"], problem["Field"], problem["Column"], problem["Value"])
            for problem in problems
        }
        for problems in problems_by_row
    ]
    of_picture = ("Photo", "Portrait")
    assert said == [
        {("Warning", "resolution_low", *of_picture, coarse)},
        set(),
        {("Error", "unknown_asset", *of_picture, rows[2]["Portrait"])},
    ]
    assert "51 ppi" in problems_by_row[0][0]["Message"]
    assert problems_by_row[0][0]["Remedy"] == "Send a larger picture, or print it smaller."


def _picture(client, image):
    content = BytesIO()
    image.save(content, "PNG")
    response = client.post("/api/v1/store/associated/asset", content.getvalue(), content_type="image/png")
    return response.json()["AssetID"]


def test_all_faults_of_a_row_are_named_at_once(access):
    row = addressed(1, Name="", Mail="nowhere", Zip="8", Pieces="3")
    batch = checked(make_batch(access, [row], mode="Recipients"))

    [problems] = problems_of(batch)
    assert {problem["Column"] for problem in problems} == {"Name", "Mail", "Zip", "Pieces"}


def test_column_that_is_missing_is_to_be_added(access):
    batch = checked(make_batch(access, [{"Mail": "a@print.example"}]))

    [[problem]] = problems_of(batch)
    assert (problem["Field"], problem["Column"]) == ("Name", None)
    assert problem["Remedy"] == "Add a column for Name, or map one to it."


def test_delivery_that_the_batch_cannot_have_is_a_problem_of_each_row(access):
    batch = checked(make_batch(access, [person(1)], delivery_method_code="PIGEON"))

    [[problem]] = problems_of(batch)
    assert (problem["Code"], problem["Field"]) == ("delivery_method_unavailable", None)


def test_changed_row_alone_is_checked_at_once(access):
    batch = checked(make_batch(access, [person(1, Mail="nowhere"), person(2)]))
    wrong = batch.rows.order_by("number")[0]

    row = correct_row(batch=batch, row_key=wrong.key, cells={"Mail": "a@print.example"})

    assert (row.state, row.problems) == ("Ready", [])
    assert fresh(batch).status == "Checked"


def test_rows_seen_before_are_not_rendered_again(access, monkeypatch):
    batch = checked(make_batch(access, [person(1), person(2)]))
    monkeypatch.setattr("stores.proofs.services.proofs.render_proof", None)

    start_check(batch=batch)

    assert states_of(checked(batch)) == ["Ready", "Ready"]


def test_check_begins_again_when_the_template_changes_meanwhile(access):
    batch = make_batch(access, [person(1)])
    Product.objects.filter(pk=batch.product_id).update(version=batch.product_version + 1)

    batch = checked(batch)

    # The check queued itself once more.
    batch = checked(batch)
    assert (batch.status, batch.product_version) == ("Checked", batch.product.version)


def test_end_of_a_check_is_an_event(access):
    checked(make_batch(access, [person(1), person(2, Mail="")], name="Cards"))

    event = Event.objects.get(type="batch.checked")
    assert (event.data["Name"], event.data["Status"], event.data["Total"]) == ("Cards", "Checked", 12.0)
    assert (event.data["Counts"]["Ready"], event.data["Counts"]["Error"]) == (1, 1)
