import json

import pytest
from django.db import OperationalError

from accounts.selectors.users import subscription_keys
from accounts.services.subscriptions import regenerate_subscription_key
from fulfillment.core.api import errors
from tests.support.costs import calls

MALFORMED = [
    b"{",
    b'{"Name": }',
    b'{"Name": "a", "Name": "b"}',
    b'{"Name": NaN}',
    b'{"Name": Infinity}',
    b'{"Name": "\\u0000"}',
    b'{"Name": "\\ud800"}',
    b'{"\\u0000": 1}',
    b"\xff\xfe",
    b"[" * 100_000,
    b'{"a":' * 5000 + b"1" + b"}" * 5000,
    b'{"Name": ' + b"[" * 40 + b"]" * 40 + b"}",
    b'{"Name": ' + b"9" * 5000 + b"}",
    b"null",
    b"[]",
    b'"text"',
    b"7",
]


@pytest.mark.parametrize("body", MALFORMED)
def test_malformed_body_is_a_400_problem(world, body):
    response = world.as_user(world.user).generic(
        "POST", "/api/v1/application", body, content_type="application/json"
    )

    assert response.status_code == 400, response.content
    assert response["Content-Type"] == "application/problem+json"
    assert response.json()["_meta"]["Messages"]


def test_names_are_compared_at_a_cost_that_grows_with_the_body(world):
    names = [f"{number:x}" for number in range(60_000)]
    body = "{" + ",".join(f'"{name}":0' for name in [*names, names[-1]]) + "}"
    client, answers = world.as_user(world.user), []

    cost = calls(
        lambda: answers.append(
            client.generic("POST", "/api/v1/application", body, content_type="application/json")
        )
    )

    assert "the name 'ea5f' occurs twice" in answers[0].json()["detail"]
    assert cost < 2 * len(names)


def test_body_without_content_type_is_read_as_json(world):
    response = world.as_user(world.user).generic(
        "POST", "/api/v1/application", json.dumps({"Name": "No type"}), content_type=""
    )

    assert response.status_code == 201


def test_too_large_body_is_413(world):
    body = json.dumps({"Name": "x" * 1_100_000})

    response = world.as_user(world.user).generic(
        "POST", "/api/v1/application", body, content_type="application/json"
    )

    assert (response.status_code, response.json()["Code"]) == (413, "body_too_large")


@pytest.mark.parametrize("path", ["", "/", "/nothing", "/application/", "/store/x/y/z"])
def test_unknown_path_is_a_problem_without_credentials(db, client, path):
    response = client.get(f"/api/v1{path}")

    assert response.status_code == 404
    assert response["Content-Type"] == "application/problem+json"
    assert response.json()["Code"] == "not_found"


def test_wrong_method_is_405_with_allow(world):
    response = world.as_user(world.user).call("DELETE", "/application")

    assert response.status_code == 405
    assert set(response["Allow"].replace(" ", "").split(",")) >= {"GET", "POST"}


@pytest.mark.parametrize("path", ["/api/v1/application/%00", "/api/v1/application?verbose=%00"])
def test_nul_in_the_address_is_400(world, path):
    assert world.as_user(world.user).get(path).status_code == 400


def test_lost_database_is_503_with_retry_after():
    response = errors.exception_response(OperationalError("server closed the connection"))

    assert response.status_code == 503
    assert response["Retry-After"] == "5"


REFUSED = {
    "unknown path": ("GET", "/nothing", {}, 404),
    "control character": ("GET", "/store/%00", {}, 400),
    "without credentials": ("GET", "/store", {}, 401),
    "long header": ("GET", "/store", {"X-Long": "x" * 20_000}, 431),
    "unknown length": ("POST", "/store/demo/quote", {"Transfer-Encoding": "chunked"}, 411),
}


@pytest.mark.parametrize(("method", "path", "headers", "status"), REFUSED.values(), ids=REFUSED)
def test_each_problem_has_the_request_id_of_its_header(db, client, method, path, headers, status):
    response = client.generic(method, f"/api/v1{path}", headers=headers)

    assert (response.status_code, response["Content-Type"]) == (status, "application/problem+json")
    assert response.json()["RequestID"] == response["X-Request-ID"]


def test_unexpected_error_reveals_no_details(caplog):
    response = errors.exception_response(RuntimeError("secret detail"))

    assert response.status_code == 500
    assert b"secret detail" not in response.content
    assert "secret detail" in caplog.text


@pytest.mark.parametrize(
    "header",
    [
        "Basic abc",
        "Bearer",
        "Bearer ",
        "Bearer a b",
        "Bearer \u00e9",
        "Bearer " + "x" * 600,
        "bearer\tx",
        "Token x",
    ],
)
def test_malformed_authorization_is_401(world, header):
    client = world.as_user(world.user)

    response = client.call("GET", "/application", headers={"Authorization": header})

    assert (response.status_code, response.json()["Code"]) == (401, "token_invalid")


def test_scheme_of_authorization_is_taken_in_any_case(world):
    client = world.as_user(world.user)

    assert (
        client.call("GET", "/application", headers={"Authorization": f"bEARER {client.token}"}).status_code
        == 200
    )


def test_credentials_in_query_or_form_are_not_read(world):
    client = world.as_user(world.user)
    path = f"/api/v1/application?access_token={client.token}&subscription-key={client.key}"

    assert client.get(path, headers={"Authorization": ""}).status_code == 401
    assert client.get(path, headers={"Ocp-Apim-Subscription-Key": ""}).status_code == 401


def test_credentials_are_checked_and_the_request_counted_with_one_query(world, django_assert_num_queries):
    client = world.as_user(world.user)

    with django_assert_num_queries(1):
        assert client.call("GET", "/user/emails").status_code == 405


def test_secondary_key_works_and_a_regenerated_one_is_invalid(world):
    client = world.as_user(world.user)
    keys = subscription_keys(world.user.subscription)
    new = regenerate_subscription_key(subscription=world.user.subscription, slot="primary")

    def status(key):
        return client.call("GET", "/application", headers={"Ocp-Apim-Subscription-Key": key}).status_code

    assert (status(keys["primary"]), status(new), status(keys["secondary"])) == (401, 200, 200)


NEAR_ADDRESSES = [
    ("/api/v1/stores", "/api/v1/store"),
    ("/api/v1/store/", "/api/v1/store"),
    ("/api/v1/Stores/demo/Orders", "/api/v1/store/demo/order"),
    ("/api/v1/store/demo/orders/export-view", "/api/v1/store/demo/order/exportview"),
    ("/api/store/demo/product", "/api/v1/store/demo/product"),
    ("/api/v1/oauth/token", "/oauth/token"),
]


@pytest.mark.parametrize(("sent", "meant"), NEAR_ADDRESSES)
def test_unknown_address_names_the_one_that_was_meant(db, client, sent, meant):
    response = client.get(sent)

    assert response.status_code == 404
    assert f"Did you mean {meant}? " in response.json()["detail"]


@pytest.mark.parametrize(
    "sent", ["/api/v1/zebra", "/api/", "/api/v1/" + "store/" * 9, "/api/v1/" + "s" * 1000]
)
def test_address_that_is_near_to_none_gets_no_guess(db, client, sent):
    assert client.get(sent).json()["detail"] == (
        "There is nothing at this address. The reference is at /api/v1/docs."
    )


def test_refusals_of_form_say_what_is_allowed(world):
    client = world.as_user(world.user)
    order = "/api/v1/store/demo/order"

    details = [
        client.generic("GET", order).json()["detail"],
        client.generic("POST", order, b"a=b", content_type="application/x-www-form-urlencoded").json()[
            "detail"
        ],
        client.generic("POST", "/api/v1/store/demo/asset", b"a", content_type="").json()["detail"],
        client.get("/api/v1/store", headers={"Accept": "application/xml"}).json()["detail"],
    ]

    assert details == [
        "GET is not possible at this address. Allowed: POST, OPTIONS.",
        "'application/x-www-form-urlencoded' is not a Content-Type of this operation. Allowed: application/json.",
        "The header Content-Type is missing. Allowed: multipart/form-data, image/png, image/jpeg, application/pdf.",
        "This operation offers none of the media types in the Accept header. Allowed: application/json.",
    ]


def test_misspelt_names_are_answered_with_the_right_ones(world):
    client = world.as_user(world.user)
    body = {"name": "Mail Studio", "reply_urls": [], "Descripton": "", "Zebra": 1}

    answer = client.call("POST", "/application", body).json()
    misspelt = client.call("GET", "/store?Verbose=true").json()

    near = {fault["Pointer"]: fault["Message"].partition("Did you mean ")[2] for fault in answer["Errors"]}
    assert near == {
        "/name": "Name?",
        "/reply_urls": "ReplyUrls?",
        "/Descripton": "Description?",
        "/Zebra": "",
        "/Name": "",
    }
    assert misspelt["detail"].endswith("Did you mean verbose?")
