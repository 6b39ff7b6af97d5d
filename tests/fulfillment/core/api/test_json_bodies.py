"""What a JSON body may cost, and that a refusal of one lists every mistake in it and says how many there are."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from io import BytesIO

import pytest
from rest_framework.exceptions import ParseError

from fulfillment.core.api import parsing
from fulfillment.core.api.parsing import (
    LARGE_BODIES,
    MAX_DEPTH,
    MAX_NAME_LENGTH,
    MAX_VALUES,
    check_structure,
)
from fulfillment.core.errors import MAX_LISTED
from tests.support.costs import calls
from tests.support.patience import PATIENCE

UNKNOWN = ",".join(f'"{number:05}":0' for number in range(93_000))
MANY = MAX_VALUES - 100
HOSTILE = {
    "unknown members": "{" + UNKNOWN + "}",
    "as many unknown members as are read": "{" + ",".join(f'"{n:05}":0' for n in range(MANY)) + "}",
    "unknown members within": '{"Name":"a","Keys":[{' + ",".join(f'"{n:05}":0' for n in range(MANY)) + "}]}",
    "long name before an array": '{"' + "a" * 500_000 + '":[' + ",".join("1" * 60_000) + "]}",
    "wrong elements": '{"Name":"a","ReplyUrls":[' + ",".join("1" * MANY) + "]}",
    "NUL in each element": '{"Name":[' + ",".join(['"\\u0000"'] * MANY) + "]}",
    "objects": '{"Name":[' + ",".join(["{}"] * (MANY // 2)) + "]}",
    "bottomless": "[" * 500_000 + "]" * 500_000,
    "bottomless within": '{"a":' * 30_000 + "1" + "}" * 30_000,
    "escaped quotes without an end": '"' + '\\"' * 400_000,
    "commas in a text": '{"Name":"' + ",[{" * 300_000 + '"}',
    "text of nothing": '{"Name":"' + "\u200b" * 300_000 + '"}',
    "numbers": '{"Name":[' + ",".join(["9" * 4000] * 200) + "]}",
}


def post(client, body, path="/application"):
    return client.generic("POST", f"/api/v1{path}", body, content_type="application/json")


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_body_is_refused_at_a_cost_that_grows_with_its_size(world, name):
    client = world.as_user(world.user)

    response = post(client, HOSTILE[name])

    assert (response.status_code, response.json()["Code"]) == (400, "invalid_body")
    assert len(response.content) < 200_000
    assert calls(lambda: post(client, HOSTILE[name])) < 20_000 + 2 * len(HOSTILE[name])


def test_93_000_unknown_members_are_not_looked_at_one_by_one(world):
    client = world.as_user(world.user)
    body = HOSTILE["unknown members"]

    assert len(body) > 880_000
    assert calls(lambda: post(client, body)) < 5000


def test_array_of_wrong_addresses_costs_a_few_calls_for_each(world):
    client = world.as_user(world.user)
    body = "[" + ",".join("1" * MANY) + "]"

    assert post(client, body, "/user/emails").json()["ErrorCount"] == MANY
    assert calls(lambda: post(client, body, "/user/emails")) < 5 * MANY


def test_large_bodies_are_read_one_at_a_time(monkeypatch):
    """So that the memory they take for a moment is taken once in a process; small ones do not wait for them."""
    under_way, most = [], []

    def slow_check(body):
        under_way.append(body)
        most.append(len(under_way))
        time.sleep(0.05)
        under_way.remove(body)

    monkeypatch.setattr(parsing, "check_structure", slow_check)
    large = [json.dumps({"Name": str(number) * 70_000}).encode() for number in range(4)]
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda body: parsing.JSONParser().parse(BytesIO(body)), large))

    assert most == [1, 1, 1, 1]
    with parsing._reading_large:
        assert parsing.JSONParser().parse(BytesIO(b'{"Name": "a"}')) == {"Name": "a"}


@contextmanager
def reading_a_large_body(caller):
    """Another request of the caller holds the slot."""
    begun, done = threading.Event(), threading.Event()

    def hold() -> None:
        with LARGE_BODIES.slot(caller):
            begun.set()
            done.wait(PATIENCE)

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        assert begun.wait(PATIENCE)
        yield
    finally:
        done.set()
        thread.join(PATIENCE)


def test_one_caller_holds_few_threads_with_large_bodies(world, settings):
    """Further bodies are refused before they are parsed, so that threads stay free for others."""
    settings.WEB_THREADS = 2
    client = world.as_user(world.user)
    large = json.dumps({"Name": "a" * 300_000})

    with reading_a_large_body(f"user:{world.user.pk}"):
        refused = post(client, large)
        assert post(client, '{"Nome": 1}', "/store/associated/quote").json()["Code"] == "invalid_body"
    assert (refused.status_code, refused.json()["Code"]) == (429, "too_many_at_once")
    assert refused["Retry-After"] == "2"
    assert post(client, large).json()["Code"] == "invalid_body"


def message_of(body) -> str:
    with pytest.raises(ParseError) as refusal:
        check_structure(body.encode())
    return str(refusal.value)


def test_body_is_read_up_to_its_depth():
    deepest = "[" * MAX_DEPTH + "]" * MAX_DEPTH

    check_structure(deepest.encode())
    check_structure(f'{{"a":{deepest[1:-1]},"b":[{{}},{{}}]}}'.encode())
    assert message_of(f"[{deepest}]") == f"The JSON is nested deeper than {MAX_DEPTH} levels."
    assert "nested deeper" in message_of('{"a":' * (MAX_DEPTH + 1) + "1" + "}" * (MAX_DEPTH + 1))
    assert "nested deeper" in message_of("[" * (MAX_DEPTH + 1))


@pytest.mark.parametrize("text", ["[" * 50, "{}" * 50, '\\"[' * 50, "\\\\", ","])
def test_brackets_inside_a_string_are_not_counted(text):
    check_structure(json.dumps([text] * 40 + [[text]] * 40).encode())
    check_structure(json.dumps({text: text * 900, "b": [[], [], {}] * 20}).encode())


def test_body_is_read_up_to_its_number_of_values():
    check_structure(("[" + ",".join("1" * MAX_VALUES) + "]").encode())
    check_structure(f'["{"," * 2 * MAX_VALUES}"]'.encode())
    message = message_of("[" + ",".join("1" * (MAX_VALUES + 1)) + "]")
    assert (
        message == f"The body has {MAX_VALUES + 1:,} members and elements; at most {MAX_VALUES:,} are read."
    )


def test_name_is_read_up_to_its_length(world):
    client = world.as_user(world.user)

    short = post(client, json.dumps({"a" * MAX_NAME_LENGTH: 1})).json()
    long = post(client, json.dumps({"Name": "a", "Keys": [{"b" * (MAX_NAME_LENGTH + 1): 1}]})).json()

    assert short["Errors"][0]["Code"] == "unknown_field"
    assert "has 257 characters; at most 256 are read" in long["detail"]


def mistakes(response) -> list[tuple[str, str]]:
    assert response.status_code == 400
    body = response.json()
    assert body["ErrorCount"] >= len(body["Errors"])
    return [(error["Pointer"], error["Code"]) for error in body["Errors"]]


def test_every_mistake_of_a_body_is_listed_at_once(world):
    body = {
        "Nome": "x",
        "Name": 7,
        "IsEnabled": "yes",
        "Keys": [{"ID": 1, "Id": 2}, {"Start": 3}],
        "Mail": "",
    }

    response = post(world.as_user(world.user), json.dumps(body))

    assert sorted(mistakes(response)) == [
        ("/IsEnabled", "invalid"),
        ("/Keys/0/ID", "invalid"),
        ("/Keys/0/Id", "unknown_field"),
        ("/Keys/1/Start", "unknown_field"),
        ("/Mail", "unknown_field"),
        ("/Name", "invalid"),
        ("/Nome", "unknown_field"),
    ]
    assert (response.json()["ErrorCount"], response.json()["detail"]) == (
        7,
        "The body has 7 errors.",
    )


def test_missing_members_and_broken_rules_are_listed_with_unknown_ones(world):
    recipient = {
        "Name": "Dana", "Address1": "1 Main St", "City": "Salem", "PostalCode": "x", "CountryCode": "US", "Zip": 1
    }  # fmt: skip
    body = {"Recipient": recipient, "Items": [{"Quantity": 0}], "QuoteID": "q"}

    response = post(world.as_user(world.user), json.dumps(body), "/store/demo/order")

    assert sorted(mistakes(response)) == [
        ("/Items/0/ProductID", "required"),
        ("/Items/0/Quantity", "min_value"),
        ("/OptionID", "required"),
        ("/Recipient/PostalCode", "invalid_postal_code"),
        ("/Recipient/Zip", "unknown_field"),
    ]


def test_rules_are_listed_where_only_names_are_wrong(world):
    recipient = {"Name": "D", "Address1": "1", "City": "S", "PostalCode": "84101", "CountryCode": "US"}
    body = {"Recipient": recipient, "Items": [{"ProductID": "p", "Quantity": 1}], "QuoteID": "q", "Quote": 1}

    response = post(world.as_user(world.user), json.dumps(body), "/store/demo/order")

    assert sorted(mistakes(response)) == [("/OptionID", "required"), ("/Quote", "unknown_field")]


def test_mistakes_of_each_key_of_an_application_are_listed(world):
    client = world.as_user(world.user)
    body = {"Name": "A", "Keys": [{"StartDate": "9999-12-31T23:59:59Z"}, {}, {"ID": "none"}]}

    response = post(client, json.dumps(body))

    assert [pointer for pointer, _ in mistakes(response)] == ["/Keys/0/StartDate", "/Keys/2/ID"]
    assert not world.user.owned_applications.filter(name="A").exists()


@pytest.mark.parametrize("count", [MAX_LISTED, MAX_LISTED + 1, 5000])
def test_first_hundred_are_listed_and_all_are_counted(world, count):
    half = count // 2
    body = {f"a{number}": 0 for number in range(half - 1)}
    body |= {"Name": 7, "Keys": [{f"b{number}": 0 for number in range(count - half)}]}

    response = post(world.as_user(world.user), json.dumps(body))

    listed = mistakes(response)
    assert (len(listed), response.json()["ErrorCount"]) == (MAX_LISTED, count)
    assert all(code in {"unknown_field", "invalid"} for _, code in listed)
    assert len(set(listed)) == MAX_LISTED


def test_texts_no_column_can_hold_are_all_listed(world):
    body = '{"Name": "\\u0000", "b": ["x", "\\ud800"], "c\\u0000": "\\ud83d\\ude00", "d/e": {"~": "\\udfff"}}'

    response = post(world.as_user(world.user), body)

    assert [pointer for pointer, _ in mistakes(response)] == ["", "/Name", "/b/1", "/d~1e/~0"]
    assert response.json()["ErrorCount"] == 4


def test_name_and_value_that_no_column_can_hold_are_refused_at_their_object(world):
    """The pointer of the value would have the name in it, which no response can hold."""
    response = post(world.as_user(world.user), '{"a": {"\\ud800": "\\ud800"}, "\\udfff": {"b": "\\u0000"}}')

    assert response.status_code == 400
    assert [pointer for pointer, _ in mistakes(response)] == ["", "/a"]


@pytest.mark.parametrize(
    "body", ["{", "[1,2", '{"a": 1, "a": 2}', '{"a": NaN}', '{"a": 1e400}', '{"a": [-2e999]}', "[" * 40]
)
def test_body_that_cannot_be_read_is_one_mistake_of_the_whole(world, body):
    response = post(world.as_user(world.user), body)

    assert (mistakes(response), response.json()["ErrorCount"]) == ([("", "invalid_body")], 1)


def test_every_problem_says_how_many_mistakes_it_is_about(world, client):
    user = world.as_user(world.user)

    counts = {
        status: response.json()["ErrorCount"]
        for status, response in {
            401: client.get("/api/v1/store"),
            404: user.call("GET", "/nothing"),
            405: user.call("DELETE", "/store"),
            400: user.call("GET", "/store?verbose=perhaps"),
        }.items()
        if response.status_code == status
    }

    assert counts == {401: 0, 404: 0, 405: 0, 400: 1}
