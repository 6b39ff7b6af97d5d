import pytest

from accounts.models import Role
from applications.registration.models import Application
from applications.registration.services.applications import change_application

NEW = {
    "Name": "Mail Studio 2",
    "Description": "Designs mail",
    "ApplicationURL": "https://studio.example",
    "SupportUrl": "https://studio.example/help",
    "SupportPhone": "+1 801 555 0100",
    "SupportEmail": "help@studio.example",
    "ImplicitFlowAllowed": True,
    "ReplyUrls": ["https://studio.example/callback", "http://127.0.0.1:4000/callback"],
    "Keys": [{"StartDate": "2026-01-01T00:00:00Z", "EndDate": "2030-01-01T00:00:00+01:00"}],
}


def test_created_application_has_what_was_sent(world):
    client = world.as_user(world.outsider)

    response = client.call("POST", "/application", NEW)
    record = response.json()

    assert response.status_code == 201
    assert response["Location"] == f"/api/v1/application/{record['ID']}"
    assert {name: record[name] for name in NEW if name != "Keys"} == {
        k: v for k, v in NEW.items() if k != "Keys"
    }
    key = record["Keys"][0]
    assert (key["StartDate"], key["EndDate"]) == ("2026-01-01T00:00:00Z", "2029-12-31T23:00:00Z")
    assert len(key["Value"]) > 40
    assert record["IsEnabled"] is True
    assert record["_meta"] == {"Messages": []}
    assert record.pop("IsTest") is False
    assert client.call("GET", f"/application/{record['External_ID']}").json() == record


def test_created_application_makes_its_creator_admin(world):
    record = world.as_user(world.outsider).call("POST", "/application", NEW).json()

    grants = Role.objects.filter(user=world.outsider, application=record["ID"]).values_list(
        "grant", flat=True
    )
    assert set(grants) == {"Application.Self.Read", "Application.Self.Write"}
    assert Application.objects.get(pk=record["ID"]).subscription.keys.count() == 2


@pytest.mark.parametrize(
    ("change", "pointer", "code"),
    [
        ({"Name": ""}, "/Name", "blank"),
        ({"Name": "   "}, "/Name", "blank"),
        ({"Name": 7}, "/Name", "invalid"),
        ({"Name": "x" * 256}, "/Name", "max_length"),
        ({"Unknown": 1}, "/Unknown", "unknown_field"),
        ({"IsEnabled": "yes"}, "/IsEnabled", "invalid"),
        ({"ApplicationURL": "javascript:alert(1)"}, "/ApplicationURL", "invalid"),
        ({"SupportEmail": "nobody"}, "/SupportEmail", "invalid"),
        ({"ReplyUrls": "https://a.example"}, "/ReplyUrls", "not_a_list"),
        ({"ReplyUrls": [1]}, "/ReplyUrls/0", "invalid"),
        ({"Keys": [{"StartDate": "tomorrow"}]}, "/Keys/0/StartDate", "invalid"),
        ({"Keys": [{"Bad": 1}]}, "/Keys/0/Bad", "unknown_field"),
        (
            {"Keys": [{"StartDate": "2027-01-01T00:00:00Z", "EndDate": "2027-01-01T00:00:00Z"}]},
            "/Keys/0/EndDate",
            "end_before_start",
        ),
        ({"Keys": [{"ID": "none"}]}, "/Keys/0/ID", "key_not_found"),
        ({"Keys": [{}] * 11}, "/Keys", "max_length"),
    ],
)
def test_application_refused_names_field_and_changes_nothing(world, change, pointer, code):
    before = Application.objects.count()

    response = world.as_user(world.user).call("POST", "/application", {**NEW, **change})

    assert response.status_code == 400
    assert (pointer, code) in {(e["Pointer"], e["Code"]) for e in response.json()["Errors"]}
    assert Application.objects.count() == before


@pytest.mark.parametrize(
    "url",
    [
        "http://studio.example/callback",
        "ftp://studio.example/",
        "//studio.example/callback",
        "/callback",
        "studio.example",
        "",
        "https://",
        "https://studio.example/#part",
        "https://studio.example/#",
        "https://user@studio.example/",
        "https://user:word@studio.example/",
        "https://studio.example:0/",
        "https://studio.example:/",
        "https://studio.example:99999/",
        "https://studio.example/a b",
        "https://studio.example/a\\b",
        "https://stüdio.example/",
        "HTTPS://studio.example/",
        "http://127.0.0.1.evil.example/",
        "http://localhost.evil.example/",
        "https://*.studio.example/",
        "https://studio.example/" + "x" * 2048,
    ],
)
def test_reply_url_refused(world, url):
    response = world.as_user(world.user).call("POST", "/application", {"Name": "A", "ReplyUrls": [url]})

    assert response.status_code == 400
    assert response.json()["Errors"][0]["Pointer"] == "/ReplyUrls/0"


@pytest.mark.parametrize(
    "url",
    [
        "https://studio.example",
        "https://studio.example:8443/cb?x=1",
        "http://localhost/cb",
        "http://127.0.0.1:5000/",
        "http://[::1]:9/",
    ],
)
def test_reply_url_taken(world, url):
    response = world.as_user(world.user).call("POST", "/application", {"Name": "A", "ReplyUrls": [url]})

    assert response.json()["ReplyUrls"] == [url]


def test_reply_urls_are_at_most_fifty(world):
    urls = [f"https://studio.example/{n}" for n in range(51)]
    client = world.as_user(world.user)

    assert client.call("POST", "/application", {"Name": "A", "ReplyUrls": urls}).status_code == 400
    assert client.call("POST", "/application", {"Name": "A", "ReplyUrls": urls[:50]}).status_code == 201


def test_change_keeps_what_is_null_or_absent(world):
    client = world.as_user(world.user)
    path = f"/application/{world.application.client_id}"
    before = client.call("GET", path).json()

    after = client.call("PATCH", path, {"Name": None, "Description": "Changed", "Keys": None}).json()

    assert after == {**before, "Description": "Changed", "Updated": after["Updated"]}


def test_change_ignores_read_only_fields_sent_back(world):
    client = world.as_user(world.user)
    path = f"/application/{world.application.pk}"
    record = client.call("GET", path).json()

    response = client.call(
        "PATCH", path, {**record, "ID": "other", "External_ID": "other", "Description": "x"}
    )

    assert response.status_code == 200, response.content
    assert {**record, "Description": "x", "Updated": response.json()["Updated"]} == response.json()


def test_change_replaces_reply_urls(world):
    path = f"/application/{world.application.pk}"

    record = world.as_user(world.user).call("PATCH", path, {"ReplyUrls": ["https://new.example/"]}).json()

    assert record["ReplyUrls"] == ["https://new.example/"]


def test_change_of_keys_adds_moves_and_regenerates(world):
    client = world.as_user(world.user)
    path = f"/application/{world.application.pk}"
    first = client.call("GET", path).json()["Keys"][0]

    added = client.call("PATCH", path, {"Keys": [{}]}).json()["Keys"]
    moved = client.call(
        "PATCH", path, {"Keys": [{"ID": first["ID"], "EndDate": "2031-01-01T00:00:00Z"}]}
    ).json()
    renewed = client.call("PATCH", path, {"Keys": [{"ID": first["ID"], "GenerateKey": True}]}).json()["Keys"]

    assert len(added) == 2
    assert added[0] == first
    assert moved["Keys"][0] == {**first, "EndDate": "2031-01-01T00:00:00Z"}
    assert first["ID"] not in {key["ID"] for key in renewed}
    assert "2031-01-01T00:00:00Z" in {key["EndDate"] for key in renewed}


def test_application_has_at_most_ten_keys_and_keeps_all_on_refusal(world):
    client = world.as_user(world.user)
    path = f"/application/{world.application.pk}"

    assert client.call("PATCH", path, {"Keys": [{}] * 9}).status_code == 200
    refused = client.call("PATCH", path, {"Name": "Half", "Keys": [{}]})

    assert (refused.status_code, refused.json()["Code"]) == (400, "too_many_keys")
    record = client.call("GET", path).json()
    assert (record["Name"], len(record["Keys"])) == ("Mail Studio", 10)


def test_key_value_is_masked_without_write_permission(world):
    key = world.application.keys.get()
    path = f"/application/{world.application.pk}"
    full = world.as_user(world.user).call("GET", path).json()["Keys"][0]["Value"]
    Role.objects.create(user=world.outsider, application=world.application, grant="Application.Self.Read")

    for client in (
        world.as_application(),
        world.as_user(world.outsider),
        world.as_user(world.user, ("Application.Self.Read",)),
        world.as_user(world.user, application=world.other_application),
    ):
        assert client.call("GET", path).json()["Keys"][0]["Value"] == "•" * 8 + full[-4:]
    assert str(key.pk) == world.as_application().call("GET", path).json()["Keys"][0]["ID"]


def test_third_party_sign_in_changes_no_other_application(world):
    client = world.as_user(world.user, application=world.other_application)

    response = client.call("PATCH", f"/application/{world.application.pk}", {"Name": "Taken over"})

    assert (response.status_code, response.json()["Code"]) == (403, "grant_missing")


def test_refusal_for_want_of_a_relationship_says_how_to_ask(world):
    response = world.as_user(world.outsider).call("GET", f"/application/{world.application.pk}")

    assert response.status_code == 403
    assert response.json()["Code"] == "association_required"
    assert "POST /api/v1/association" in response.json()["detail"]


def test_verbose_adds_owner_stores_icon_and_grants(world):
    record = world.as_user(world.user).call("GET", "/application?verbose=true").json()[0]

    assert record["OwnerID"] == str(world.user.pk)
    assert record["StoreIDs"] == ["associated"]
    assert record["IconURL"] is None
    assert record["Grants"] == ["Application.Self.Read", "Application.Self.Write"]
    assert world.as_user(world.user).call("GET", "/application?verbose=maybe").status_code == 400


@pytest.mark.parametrize("more", [0, 2])
def test_application_list_takes_a_fixed_number_of_queries(world, django_assert_num_queries, more):
    client = world.as_user(world.user)
    for number in range(more):
        client.call("POST", "/application", {"Name": f"A{number}", "Keys": [{}]})

    with django_assert_num_queries(6):
        assert len(client.call("GET", "/application").json()) == 1 + more


def test_unknown_application_is_404(world):
    for name in ("none", "00000000-0000-0000-0000-000000000000", "a%2Fb", "%FF", "'", "x" * 2000):
        assert world.as_user(world.user).call("GET", f"/application/{name}").status_code == 404


def test_owner_cannot_enable_what_an_operator_blocked(world):
    change_application(application=world.application, values={}, is_blocked=True)
    owner, path = world.as_user(world.user), f"/application/{world.application.pk}"

    refused = owner.call("PATCH", path, {"IsEnabled": True, "Description": "x"})
    by_operator = world.as_operator().call("PATCH", path, {"IsEnabled": True})

    for response in (refused, by_operator):
        assert (response.status_code, response.json()["Code"]) == (403, "application_blocked")
    assert owner.call("PATCH", path, {"IsEnabled": False, "Description": "y"}).json()["Description"] == "y"
    assert owner.call("GET", path).json()["IsEnabled"] is False
    assert world.as_application().call("GET", "/store").status_code == 401


def test_block_once_lifted_leaves_enabling_to_the_owner(world):
    application, path = world.application, f"/application/{world.application.pk}"
    change_application(application=application, values={}, is_blocked=True)

    change_application(application=application, values={}, is_blocked=False)

    assert world.as_application().call("GET", "/store").status_code == 401
    assert world.as_user(world.user).call("PATCH", path, {"IsEnabled": True}).status_code == 200
    assert world.as_application().call("GET", "/store").status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [("POST", "", {"Name": "New"}), ("PATCH", "/{}", {"Keys": [{}]}), ("POST", "/{}/icon", None)],
)
def test_change_waits_for_a_slot_before_it_locks_the_application(world, settings, method, path, body):
    settings.CONCURRENCY_WAIT_SECONDS = settings.CHANGES_CONCURRENCY = 0
    path = f"/application{path.format(world.application.pk)}"

    refused = world.as_user(world.user).call(method, path, body)

    assert (refused.status_code, refused.json()["Code"]) == (503, "service_busy")
