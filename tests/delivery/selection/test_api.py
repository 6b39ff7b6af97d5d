import gzip
import json
from uuid import UUID

import pytest

from delivery.datasets.models import Area
from delivery.datasets.services.datasets import discard_dataset
from delivery.datasets.services.demo import load_demo_population
from delivery.selection.models import EddmSelection, EddmSelectionRoute
from tests.factories.delivery import load_dataset
from tests.factories.orders import make_product
from tests.support.api.modes import add_test_application

PATH = "/delivery/eddm/selection"
SQUARE = [[-111.91, 40.74], [-111.87, 40.74], [-111.87, 40.77], [-111.91, 40.77], [-111.91, 40.74]]


def polygon(*rings):
    return {"type": "Polygon", "coordinates": list(rings)}


@pytest.fixture
def client(world):
    return world.as_application()


@pytest.fixture
def demo(db):
    return load_demo_population()


def faults(response):
    return [(fault["Pointer"], fault["Code"]) for fault in response.json()["Errors"]]


def test_selection_is_made_read_and_drawn(client, world, demo):
    body = {
        "Polygon": polygon(SQUARE),
        "Center": {"PostalCode": "84101"},
        "RadiusMiles": 3,
        "RouteTypes": ["C"],
        "ResidentialOnly": True,
        "MaxPieces": 4000,
    }

    made = client.call("POST", PATH, body)

    assert made.status_code == 201, made.content
    record = dict(made.json())
    routes = record.pop("Routes")
    assert made.headers["Location"] == f"/api/v1{PATH}/{record['SelectionID']}"
    assert made.headers["X-Data-Synthetic"] == "true"
    assert record["Pieces"] == record["ResidentialCount"] == sum(r["Pieces"] for r in routes) <= 4000
    assert record["TotalCount"] == record["ResidentialCount"] + record["BusinessCount"]
    assert set(routes[0]) == {
        *("PostalCode", "CarrierRouteID", "ResidentialCount", "BusinessCount", "TotalCount", "Pieces"),
        *("MedianIncome", "MedianAge", "HouseholdSize", "FacilityName"),
    }
    assert routes[0]["FacilityName"] == "Salt Lake City (invented)"
    read = client.call("GET", f"{PATH}/{record['SelectionID']}")
    assert read.json() == made.json()
    assert (
        client.call(
            "GET", read.request["PATH_INFO"].removeprefix("/api/v1"), headers={"If-None-Match": read["ETag"]}
        ).status_code
        == 304
    )
    drawn = client.call("GET", f"{PATH}/{record['SelectionID']}", headers={"Accept": "application/geo+json"})
    assert drawn.headers["Content-Type"] == "application/geo+json"
    collection = json.loads(drawn.content)
    assert collection["bbox"] == record["BoundingBox"]
    assert [feature["properties"] for feature in collection["features"]] == routes
    assert {feature["geometry"]["type"] for feature in collection["features"]} == {"Polygon"}
    assert EddmSelection.objects.get().criteria == body
    # Of the application alone, and of each user who acts through it.
    assert world.as_user(world.outsider).call("GET", f"{PATH}/{record['SelectionID']}").status_code == 404


def test_counts_stay_when_the_data_set_is_removed(client, demo):
    made = client.call("POST", PATH, {"PostalCodes": ["84101"]}).json()
    load_dataset()
    discard_dataset(dataset_id=demo.pk)

    read = client.call("GET", f"{PATH}/{made['SelectionID']}")
    drawn = client.call("GET", f"{PATH}/{made['SelectionID']}", headers={"Accept": "application/geo+json"})

    assert read.json() == made
    assert [feature["geometry"] for feature in json.loads(drawn.content)["features"]] == [None] * len(
        made["Routes"]
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, [("", "area_missing")]),
        ({"RadiusMiles": 2}, [("/RadiusMiles", "center_missing")]),
        ({"Center": {"Latitude": 1, "Longitude": 2}}, [("/RadiusMiles", "radius_missing")]),
        ({"Center": {"Latitude": 1}, "RadiusMiles": 2}, [("/Center", "center_invalid")]),
        ({"Center": {"PostalCode": "84101"}, "RadiusMiles": 101}, [("/RadiusMiles", "max_value")]),
        ({"PostalCodes": ["8410"], "Routes": ["84101X001"]}, [("/PostalCodes/0", "invalid"), ("/Routes/0", "invalid")]),
        ({"PostalCodes": [84101, "84101-12"]}, [("/PostalCodes/0", "invalid"), ("/PostalCodes/1", "invalid")]),
        ({"Center": {"PostalCode": 84101}, "RadiusMiles": 2}, [("/Center/PostalCode", "invalid")]),
        ({"PostalCodes": ["84101"], "Size": 1}, [("/Size", "unknown_field")]),
        ({"PostalCodes": ["84101"], "MedianAge": {"Min": 9, "Max": 3}}, [("/MedianAge", "range_invalid")]),
        ({"PostalCodes": ["84101"], "MedianAge": {}}, [("/MedianAge", "range_empty")]),
        ({"Polygon": {"type": "Point", "coordinates": 3}},
         [("/Polygon/type", "invalid_choice"), ("/Polygon/coordinates", "invalid")]),
        ({"Polygon": polygon(SQUARE[:-1])}, [("/Polygon/coordinates", "polygon_not_closed")]),
        ({"Polygon": polygon([[0, 0], [200, 0], [1, 1], [0, 0]])}, [("/Polygon/coordinates", "position_invalid")]),
        ({"Polygon": polygon([[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]])}, [("/Polygon/coordinates", "polygon_invalid")]),
        ({"Polygon": polygon([[0, 0], [1, 1], [0, 0], [0, 0]])}, [("/Polygon/coordinates", "polygon_invalid")]),
        ({"Polygon": polygon([[0, 0]] * 1001)}, [("/Polygon/coordinates", "polygon_too_many_corners")]),
    ],
)  # fmt: skip
def test_each_mistake_is_named_where_it_is(client, body, expected):
    load_dataset()

    response = client.call("POST", PATH, body)

    assert response.status_code == 400
    assert faults(response) == expected


def test_zip_plus_four_counts_by_its_first_five_digits_and_the_answer_says_so(client, demo):
    short = client.call("POST", PATH, {"PostalCodes": ["84101"]}).json()
    long = client.call("POST", PATH, {"PostalCodes": ["84101-1234", "84101"]})

    assert (long.status_code, long.json()["Routes"]) == (201, short["Routes"])
    said = long.json()["_meta"]["Messages"]
    assert said == ["Only the first five digits of 84101-1234 count."]
    assert "_meta" not in short


def test_self_crossing_polygon_is_refused_with_its_place(client):
    load_dataset()
    response = client.call("POST", PATH, {"Polygon": polygon([[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]])})

    assert "it crosses itself near [0.5, 0.5]" in response.content.decode()


def test_unknown_codes_and_routes_are_all_named(client, demo):
    response = client.call(
        "POST", PATH, {"PostalCodes": ["84101", "99999"], "Routes": ["84101C001", "84101C999", "11111C001"]}
    )

    assert response.status_code == 400
    assert faults(response) == [
        ("/PostalCodes/1", "postal_code_unknown"),
        ("/Routes/1", "route_unknown"),
        ("/Routes/2", "route_unknown"),
    ]
    assert "84101C999" in response.content.decode()


def test_types_that_the_service_does_not_count_are_refused(client, demo):
    response = client.call("POST", PATH, {"PostalCodes": ["84101"], "RouteTypes": ["C", "B"]})

    assert faults(response) == [("/RouteTypes", "route_type_not_counted")]


@pytest.mark.parametrize(
    "body",
    [
        {"Polygon": polygon([[0, 0], [1, 0], [1, 1], [0, 0]])},
        {"PostalCodes": ["84101"], "MedianIncome": {"Min": 5_000_000}},
        {"PostalCodes": ["84101"], "MaxPieces": 1},
    ],
)
def test_nothing_selected_says_so(client, demo, body):
    response = client.call("POST", PATH, body)

    assert (response.status_code, response.json()["Code"]) == (400, "selection_empty")


def test_without_geometry_areas_are_refused_after_mistakes_of_the_body(client):
    load_dataset()
    area = {"Polygon": polygon(SQUARE)}

    missing = client.call("POST", PATH, area)
    mistaken = client.call("POST", PATH, {**area, "PostalCodes": ["99999"]})
    unknown = client.call("POST", PATH, {"Center": {"PostalCode": "99999"}, "RadiusMiles": 1})
    plain = client.call("POST", PATH, {"PostalCodes": ["84101"]})

    assert (missing.status_code, missing.json()["Code"]) == (409, "geometry_missing")
    assert (mistaken.status_code, mistaken.json()["Code"]) == (400, "postal_code_unknown")
    assert (unknown.status_code, unknown.json()["Code"]) == (400, "postal_code_unknown")
    assert plain.status_code == 201
    assert plain.json()["BoundingBox"] is None
    assert plain.json()["Routes"][0]["MedianIncome"] is None
    assert "X-Data-Synthetic" not in plain.headers


def test_budget_buys_as_many_pieces_as_the_product_costs(client, world, demo):
    make_product(world.associated)
    quote = client.call(
        "POST",
        "/store/associated/quote",
        {"Items": [{"ProductID": "card", "Quantity": 100}], "ShipTo": {"CountryCode": "US"}},
    ).json()
    price = quote["Options"][0]["Items"][0]["UnitPrice"]
    budget = {"StoreID": "associated", "ProductID": "card", "Amount": round(price * 2500, 2)}

    made = client.call("POST", PATH, {"PostalCodes": ["84101", "84102", "84103"], "Budget": budget})
    poor = client.call("POST", PATH, {"PostalCodes": ["84101"], "Budget": {**budget, "Amount": 0.01}})
    unknown = client.call("POST", PATH, {"PostalCodes": ["84101"], "Budget": {**budget, "ProductID": "none"}})
    method = client.call(
        "POST", PATH, {"PostalCodes": ["84101"], "Budget": {**budget, "DeliveryMethodCode": "rocket"}}
    )
    closed = client.call(
        "POST", PATH, {"PostalCodes": ["84101"], "Budget": {**budget, "StoreID": "unassociated"}}
    )

    assert made.status_code == 201, made.content
    assert 1900 < made.json()["Pieces"] <= 2500
    assert poor.json()["Code"] == "selection_empty"
    assert faults(unknown) == [("/Budget/ProductID", "product_unknown")]
    assert faults(method)[0][0] == "/Budget/DeliveryMethodCode"
    assert closed.status_code == 403


def test_repeated_request_with_its_key_makes_one_selection(client, demo):
    key = {"Idempotency-Key": "once"}
    first, second = (client.call("POST", PATH, {"PostalCodes": ["84101"]}, headers=key) for _ in range(2))

    assert first.content == second.content
    assert second.headers["Idempotent-Replayed"] == "true"
    assert EddmSelection.objects.count() == 1


def test_test_application_makes_test_selections_which_expire_sooner(client, world, demo):
    testing = world.as_application(add_test_application(world))

    live, test = (
        caller.call("POST", PATH, {"PostalCodes": ["84101"]}).json() for caller in (client, testing)
    )

    assert EddmSelection.objects.get(is_test=True).pk == UUID(test["SelectionID"])
    assert test["ExpiresAt"] < live["ExpiresAt"]
    assert client.call("GET", f"{PATH}/{test['SelectionID']}").status_code == 404


def test_names_of_post_offices_come_back_as_they_are(client, demo):
    area = Area.objects.get(dataset=demo, postal_code="84101")
    area.facts = area.facts.replace("Salt Lake City (invented)", "A\\\\B é")
    area.save(update_fields=["facts"])

    made = client.call("POST", PATH, {"PostalCodes": ["84101"]}).json()

    assert made["Routes"][0]["FacilityName"] == "A\\B é"
    assert EddmSelectionRoute.objects.first().facility_name == "A\\B é"


def test_large_answer_is_compressed(client, demo):
    made = client.call("POST", PATH, {"Center": {"PostalCode": "84101"}, "RadiusMiles": 20}).json()

    read = client.call("GET", f"{PATH}/{made['SelectionID']}", headers={"Accept-Encoding": "gzip"})

    assert json.loads(gzip.decompress(read.content)) == made


@pytest.mark.parametrize("height", ["1e400", "-1e400", "1e16"])
def test_numbers_that_cannot_be_stored_are_refused(client, demo, height):
    text = json.dumps({"Polygon": polygon(SQUARE)}).replace("40.77]", f"40.77, {height}]")
    response = client.generic("POST", f"/api/v1{PATH}", text.encode(), "application/json")

    assert response.status_code == 400
    assert not EddmSelection.objects.exists()


def test_areas_that_do_not_meet_select_nothing(client, demo, monkeypatch):
    """And cost no look-up of all that lies between them."""
    monkeypatch.setattr("delivery.selection.selectors.candidates.MAX_AREAS", 0)
    far = {"Center": {"Latitude": 25.0, "Longitude": -80.0}, "RadiusMiles": 1}
    response = client.call("POST", PATH, {"Polygon": polygon(SQUARE), **far})

    assert (response.status_code, response.json()["Code"]) == (400, "selection_empty")
