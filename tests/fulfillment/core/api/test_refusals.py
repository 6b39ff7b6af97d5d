"""A refused body lists every mistake of its shape; when the shape is right, every rule that it breaks."""

import pytest

from tests.factories.webhooks import PUBLIC_URL


def faults(response) -> set[tuple[str, str]]:
    body = response.json()
    assert response.status_code == 400, body
    assert body["ErrorCount"] == len(body["Errors"])
    return {(error["Pointer"], error["Code"]) for error in body["Errors"]}


def test_user_is_refused_for_its_shape_first(world):
    body = {"Username": "jane doe", "FirstName": 7, "Password": "123", "Nick": "J", "Phone": 1}

    assert faults(world.as_user(world.user).call("POST", "/user", body)) == {
        ("/Nick", "unknown_field"),
        ("/FirstName", "invalid"),
        ("/Phone", "invalid"),
        ("/LastName", "required"),
        ("/Email", "required"),
    }


def test_user_breaks_every_rule_at_once(world):
    names = {"FirstName": "Jane", "LastName": "Doe", "Email": "at home"}
    client = world.as_user(world.user)

    response = client.call("POST", "/user", {**names, "Username": world.user.username, "Password": "123"})
    errors = faults(client.call("POST", "/user", {**names, "Username": "jane doe", "Password": "123"}))

    assert {
        ("/Username", "username_taken"),
        ("/Email", "invalid"),
        ("/Password", "password_too_short"),
    } <= faults(response)
    assert {("/Email", "invalid"), ("/Password", "password_too_short")} <= errors
    assert "/Username" in {pointer for pointer, _ in errors}


def test_application_is_refused_for_its_shape_first(world):
    body = {"Nmae": "x", "IsEnabled": "yes", "ReplyUrls": ["http://studio.example/"]}
    client = world.as_user(world.user)
    shape = {("/Nmae", "unknown_field"), ("/IsEnabled", "invalid")}

    assert faults(client.call("POST", "/application", body)) == shape | {("/Name", "required")}
    assert faults(client.call("PATCH", f"/application/{world.application.pk}", body)) == shape


def test_application_breaks_every_rule_at_once(world):
    body = {
        "Name": "Mail",
        "SupportEmail": "nobody",
        "ReplyUrls": ["https://studio.example/callback", "http://studio.example/"],
        "Keys": [{"StartDate": "2030-01-01T00:00:00Z", "EndDate": "2029-01-01T00:00:00Z"}],
    }
    rules = {
        ("/SupportEmail", "invalid"),
        ("/ReplyUrls/1", "reply_url_invalid"),
        ("/Keys/0/EndDate", "end_before_start"),
    }
    client = world.as_user(world.user)

    assert faults(client.call("POST", "/application", body)) == rules
    assert faults(client.call("PATCH", f"/application/{world.application.pk}", body)) == rules


def test_webhook_is_refused_for_its_shape_first(world):
    client, path = world.as_user(world.user), f"/application/{world.application.pk}/webhook"
    body = {"URL": "http://192.0.43.8/", "EventTypes": ["order.*", "nonsense"]}
    rules = {("/URL", "url_refused"), ("/EventTypes/1", "event_type_unknown")}
    webhook = client.call("POST", path, {"URL": PUBLIC_URL}).json()

    for method, address in (("POST", path), ("PATCH", f"{path}/{webhook['ID']}")):
        assert faults(client.call(method, address, {**body, "IsEnabled": "yes"})) == {
            ("/IsEnabled", "invalid")
        }
        assert faults(client.call(method, address, body)) == rules


@pytest.mark.parametrize("value", [None, 1])
def test_unknown_member_is_refused_with_null_too(world, value):
    client = world.as_user(world.user)

    created = client.call("POST", "/application", {"Name": "Mail", "Nmae": value})
    changed = client.call("PATCH", f"/application/{world.application.pk}", {"Nmae": value, "Name": None})

    assert faults(created) == faults(changed) == {("/Nmae", "unknown_field")}
