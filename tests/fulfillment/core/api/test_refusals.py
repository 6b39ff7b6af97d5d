"""A refused user, application or webhook lists the mistakes of its form and what the rules refuse, at once."""

from tests.factories.webhooks import PUBLIC_URL


def faults(response) -> set[tuple[str, str]]:
    body = response.json()
    assert (response.status_code, body["Code"]) == (400, "invalid_body"), body
    assert body["ErrorCount"] == len(body["Errors"])
    return {(error["Pointer"], error["Code"]) for error in body["Errors"]}


def test_user_with_mistakes_of_every_kind(world):
    body = {
        "Username": "jane doe",
        "FirstName": 7,
        "Email": "at home",
        "Password": "123",
        "Nick": "J",
    }

    found = faults(world.as_user(world.user).call("POST", "/user", body))

    assert {
        ("/Nick", "unknown_field"),
        ("/FirstName", "invalid"),
        ("/LastName", "required"),
        ("/Email", "invalid"),
        ("/Password", "password_too_short"),
    } <= found
    assert "/Username" in {pointer for pointer, _ in found}


def test_application_with_mistakes_of_every_kind(world):
    dates = {"StartDate": "2030-01-01T00:00:00Z", "EndDate": "2029-01-01T00:00:00Z"}
    body = {
        "Nmae": "x",
        "IsEnabled": "yes",
        "SupportEmail": "nobody",
        "ReplyUrls": ["https://studio.example/callback", "http://studio.example/"],
        "Keys": [dates],
    }
    client = world.as_user(world.user)
    rules = {
        ("/SupportEmail", "invalid"),
        ("/ReplyUrls/1", "reply_url_invalid"),
        ("/Keys/0/EndDate", "end_before_start"),
    }

    created = faults(client.call("POST", "/application", body))
    changed = faults(client.call("PATCH", f"/application/{world.application.pk}", body))
    ruled = {name: body[name] for name in ("SupportEmail", "ReplyUrls", "Keys")}

    form = {("/Nmae", "unknown_field"), ("/IsEnabled", "invalid")}
    assert created == rules | form | {("/Name", "required")}
    assert changed == rules | form
    assert faults(client.call("POST", "/application", {"Name": "Mail", **ruled})) == rules


def test_member_with_a_mistake_is_not_named_twice(world):
    client = world.as_user(world.user)

    found = faults(client.call("POST", "/application", {"Name": "x" * 300, "SupportEmail": "y" * 300}))

    assert found == {("/Name", "max_length"), ("/SupportEmail", "max_length")}


def test_webhook_with_mistakes_of_every_kind(world):
    client, path = world.as_user(world.user), f"/application/{world.application.pk}/webhook"
    body = {"URL": "http://192.0.43.8/", "EventTypes": ["order.*", "nonsense"], "IsEnabled": "yes"}
    rules = {("/URL", "url_refused"), ("/EventTypes/1", "event_type_unknown"), ("/IsEnabled", "invalid")}

    webhook = client.call("POST", path, {"URL": PUBLIC_URL}).json()

    assert faults(client.call("POST", path, body)) == rules
    assert faults(client.call("PATCH", f"{path}/{webhook['ID']}", body)) == rules
