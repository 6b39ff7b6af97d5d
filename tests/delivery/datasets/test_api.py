import gzip
import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from delivery.datasets.api import DeliveryPopulationSerializer
from delivery.datasets.models import Dataset
from delivery.datasets.populations import pack
from delivery.datasets.services.datasets import activate_dataset
from tests.factories.delivery import SMALL, load_dataset
from tests.support.scenario import ApiClient

C84101 = {
    "PostalCode": "84101",
    "ResidentialCount": 1100,
    "BusinessCount": 40,
    "TotalCount": 1140,
    "Routes": [
        {"CarrierRouteID": "C001", "ResidentialCount": 600, "BusinessCount": 40, "TotalCount": 640},
        {"CarrierRouteID": "C002", "ResidentialCount": 500, "BusinessCount": 0, "TotalCount": 500},
    ],
}
C00501 = {
    "PostalCode": "00501",
    "ResidentialCount": 1,
    "BusinessCount": 2,
    "TotalCount": 3,
    "Routes": [{"CarrierRouteID": "H001", "ResidentialCount": 1, "BusinessCount": 2, "TotalCount": 3}],
}


@pytest.fixture
def client(world):
    return world.as_application()


@pytest.fixture
def dataset(db) -> Dataset:
    return load_dataset()


def ask(client, *codes, **headers):
    return client.call(
        "GET", "/delivery/eddm?" + "&".join(f"postalCodes={code}" for code in codes), headers=headers
    )


def zeros(code):
    return {"PostalCode": code, "ResidentialCount": 0, "BusinessCount": 0, "TotalCount": 0, "Routes": []}


def test_answers_in_the_order_requested(client, dataset):
    response = ask(client, "00501", "99999", "84101")

    assert response.status_code == 200
    assert response.headers["Content-Type"] == "application/json"
    assert response.headers["X-Data-Vintage"] == "2026-10"
    assert "X-Data-Synthetic" not in response.headers
    assert response.json() == [C00501, zeros("99999"), C84101]


def test_users_may_ask_too(world, dataset):
    assert ask(world.as_user(world.outsider), "84101").json() == [C84101]


def test_bodies_have_the_shape_that_is_published(client, dataset):
    shown = ask(client, "84101", "99999").json()

    serializer = DeliveryPopulationSerializer(data=shown, many=True)
    assert serializer.is_valid()
    assert json.dumps(serializer.data) == json.dumps(shown)


@pytest.mark.parametrize(
    "query",
    [
        "postalCodes=84101&postalCodes=00501",
        "postalCodes=84101,00501",
        "postalCodes=%2084101%20,,00501,",
        "postalCodes=84101-1234&postalCodes=005010001",
        "postalCodes=84101&postalCodes=84101-9999&postalCodes=84101&postalCodes=00501",
        "postalCodes=&postalCodes=84101&postalCodes=00501",
    ],
)
def test_ways_to_ask_for_two_codes(client, dataset, query):
    response = client.call("GET", f"/delivery/eddm?{query}")

    assert response.json() == [C84101, C00501]


def test_hundred_distinct_codes_and_their_repeats(client, dataset):
    codes = [f"{number:05d}" for number in range(84050, 84150)]

    shown = ask(client, *codes, *codes, *(f"{code}-1234" for code in codes)).json()

    assert [each["PostalCode"] for each in shown] == codes
    assert shown[51] == C84101


def test_hundred_and_one_codes(client, dataset):
    response = ask(client, *(f"{number:05d}" for number in range(84050, 84151)))

    assert response.status_code == 400
    assert response.json()["Errors"] == [
        {
            "Pointer": "?postalCodes",
            "Code": "too_many_postal_codes",
            "Message": "101 distinct postal codes were sent; at most 100 are allowed.",
        }
    ]


def test_every_invalid_code_is_named(client, dataset):
    bad = ["8410", "841011", "K1A 0B1", "٨٤١٠١", "84101-12", "８４１０１", "-84101", "84101;x"]

    response = client.call("GET", "/delivery/eddm?postalCodes=84101&postalCodes=" + ",".join(bad))

    assert response.status_code == 400
    errors = response.json()["Errors"]
    assert [error["Message"].split("'")[1] for error in errors] == bad
    assert {error["Code"] for error in errors} == {"postal_code_malformed"}


@pytest.mark.parametrize("query", ["", "?postalCodes=", "?postalCodes=,%20,"])
def test_no_code_at_all(client, dataset, query):
    response = client.call("GET", f"/delivery/eddm{query}")

    assert (response.status_code, response.json()["Errors"][0]["Code"]) == (400, "parameter_missing")


def test_name_in_other_letters_is_refused_with_the_one_that_is_known(client, dataset):
    response = client.call("GET", "/delivery/eddm?PostalCodes=84101")

    (error,) = response.json()["Errors"]
    assert (response.status_code, error["Code"]) == (400, "parameter_invalid")
    assert error["Pointer"] == "?PostalCodes"
    assert "postalCodes" in error["Message"]


def test_no_data(client):
    response = ask(client, "84101")

    assert (response.status_code, response.json()["Code"]) == (503, "population_data_missing")
    assert response.headers["Retry-After"] == "300"


def test_loaded_set_alone_is_no_data(client):
    load_dataset(active=False)

    assert ask(client, "84101").status_code == 503


def test_malformed_code_is_refused_before_the_data_is_missed(client):
    assert ask(client, "x").status_code == 400


def test_credentials_come_first(dataset):
    response = ask(ApiClient(), "x")

    assert (response.status_code, response.json()["Code"]) == (401, "subscription_key_missing")


def test_etag_answers_304_until_the_data_changes(client, dataset):
    first = ask(client, "84101", "00501")
    etag = first.headers["ETag"]

    again = ask(client, "84101", "00501", **{"If-None-Match": etag})
    other_codes = ask(client, "00501", "84101", **{"If-None-Match": etag})
    load_dataset()
    changed = ask(client, "84101", "00501", **{"If-None-Match": etag})

    assert (again.status_code, again.content, again.headers["X-Data-Vintage"]) == (304, b"", "2026-10")
    assert again.headers["ETag"] == etag
    assert (other_codes.status_code, changed.status_code) == (200, 200)


def test_going_back_brings_the_old_etag_back(client, dataset):
    etag = ask(client, "84101").headers["ETag"]
    load_dataset()
    activate_dataset(dataset_id=dataset.pk, by="tests")

    assert ask(client, "84101", **{"If-None-Match": etag}).status_code == 304


def test_large_answers_are_compressed_for_who_takes_it(client):
    routes = {f"C{number:03d}": pack(600, 40) for number in range(50)}
    load_dataset({"84101": routes})

    plain = ask(client, "84101")
    packed = ask(client, "84101", **{"Accept-Encoding": "gzip"})

    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.content) == plain.content
    assert len(packed.content) < len(plain.content) / 4


def test_boxes_are_counted_where_the_set_was_made_so(client):
    load_dataset(SMALL, types="CRHB")

    shown = ask(client, "84101").json()[0]

    assert [route["CarrierRouteID"] for route in shown["Routes"]] == ["B001", "C001", "C002"]
    assert shown["TotalCount"] == 1140 + 89


def test_code_with_boxes_only_has_zeros(client):
    load_dataset({"84101": {"B001": pack(5, 5)}})

    assert ask(client, "84101").json() == [zeros("84101")]


def test_synthetic_counts_say_so(client):
    load_dataset(is_synthetic=True)

    assert ask(client, "84101").headers["X-Data-Synthetic"] == "true"


@pytest.mark.parametrize("count", [1, 100])
def test_one_statement_for_the_data(client, dataset, count):
    with CaptureQueriesContext(connection) as queries:
        ask(client, *(f"{number:05d}" for number in range(84101, 84101 + count)))

    delivery = [query["sql"] for query in queries if "delivery_" in query["sql"]]
    assert len(delivery) == 1
    assert len(queries) == 2


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_other_methods(client, method):
    response = client.call(method, "/delivery/eddm")

    assert (response.status_code, response.headers["Allow"]) == (405, "GET, HEAD, OPTIONS")
