import uuid
from xml.etree import ElementTree

import pytest

from accounts.models import Role

STAFF = ["Store.All.Read", "Order.All.Read", "Order.All.Write"]


def path(user, store="associated"):
    return f"/store/{store}/user/{getattr(user, 'pk', user)}"


@pytest.mark.parametrize("count", [1, 3])
def test_roles_take_five_queries(world, count, django_assert_num_queries):
    Role.objects.filter(user=world.user).exclude(grant__in=STAFF[:count]).delete()
    client = world.as_user(world.user)

    with django_assert_num_queries(5):
        roles = client.call("GET", path(world.user)).json()

    assert [role["Grant"] for role in roles] == STAFF[:count]


def test_record_has_the_members_of_the_contract(world):
    role = Role.objects.filter(user=world.user, store=world.associated).order_by("pk").first()

    assert world.as_user(world.user).call("GET", path(world.user)).json()[0] == {
        "ID": role.pk,
        "StoreID": "associated",
        "UserID": str(world.user.pk),
        "Grant": role.grant,
        "_meta": {"Messages": []},
    }


def test_store_all_read_shows_every_user(world):
    Role.objects.create(user=world.outsider, store=world.associated, grant="Order.Self.Read")

    roles = world.as_user(world.user).call("GET", path(world.outsider)).json()

    assert [role["Grant"] for role in roles] == ["Order.Self.Read"]
    assert world.as_operator().call("GET", path(world.outsider)).json() == roles


def test_store_self_read_shows_the_user_alone(world):
    Role.objects.create(user=world.outsider, store=world.associated, grant="Store.Self.Read")
    outsider = world.as_user(world.outsider)

    own = outsider.call("GET", path(str(world.outsider.pk).upper()))
    other = outsider.call("GET", path(world.user))
    unknown = outsider.call("GET", path(uuid.uuid4()))

    assert [role["Grant"] for role in own.json()] == ["Store.Self.Read"]
    assert (other.status_code, other.json()["Code"]) == (403, "grant_missing")
    assert unknown.json() == {**other.json(), "RequestID": unknown.json()["RequestID"]}


def test_scope_limits_the_grant(world):
    narrow = world.as_user(world.user, ("Store.Self.Read",))

    assert narrow.call("GET", path(world.user)).status_code == 200
    assert narrow.call("GET", path(world.outsider)).json()["Code"] == "grant_missing"
    assert world.as_user(world.user, ("Order.All.Read",)).call("GET", path(world.user)).status_code == 403


def test_demo_store_shows_own_roles_only(world):
    Role.objects.create(user=world.outsider, store=world.demo, grant="Store.All.Read")

    assert len(world.as_user(world.outsider).call("GET", path(world.outsider, "demo")).json()) == 1
    assert world.as_user(world.user).call("GET", path(world.user, "demo")).json() == []
    assert world.as_user(world.user).call("GET", path(world.outsider, "demo")).json() == []
    assert world.as_operator().call("GET", path(world.outsider, "demo")).json() == []


def test_refusals(world):
    user = world.as_user(world.user)
    answers = {
        "no store": user.call("GET", path(world.user, "nothing")),
        "no relation": user.call("GET", path(world.user, "unassociated")),
        "no user": user.call("GET", path(uuid.uuid4())),
        "no id": user.call("GET", path("%F0%9F%98%80")),
        "application": world.as_application().call("GET", path(world.user)),
        "accept": user.call("GET", path(world.user), headers={"Accept": "text/csv"}),
    }

    assert {name: (response.status_code, response.json()["Code"]) for name, response in answers.items()} == {
        "no store": (400, "store_invalid"),
        "no relation": (403, "association_required"),
        "no user": (404, "user_not_found"),
        "no id": (404, "user_not_found"),
        "application": (403, "closed_to_applications"),
        "accept": (406, "not_acceptable"),
    }


@pytest.mark.parametrize("accept", ["application/xml", "text/xml"])
def test_roles_as_xml(world, accept):
    response = world.as_user(world.user).call("GET", path(world.user), headers={"Accept": accept})

    root = ElementTree.fromstring(response.content)
    assert response["Content-Type"] == f"{accept}; charset=utf-8"
    assert root.tag == "ArrayOfStoreUserRole"
    assert [child.tag for child in root] == ["StoreUserRole"] * 3
    assert [(field.tag, field.text) for field in root[0]][1:] == [
        ("StoreID", "associated"),
        ("UserID", str(world.user.pk)),
        ("Grant", "Store.All.Read"),
        ("_meta", None),
    ]
    assert root[0].find("_meta/Messages") is not None


@pytest.mark.parametrize("accept", ["*/*", "application/json", "text/html, */*;q=0.1"])
def test_roles_as_json(world, accept):
    response = world.as_user(world.user).call("GET", path(world.user), headers={"Accept": accept})

    assert response["Content-Type"] == "application/json"


def test_refusal_is_json_for_xml_clients_too(world):
    response = world.as_user(world.user).call(
        "GET", path(world.user, "nothing"), headers={"Accept": "application/xml"}
    )

    assert (response.status_code, response["Content-Type"]) == (400, "application/problem+json")
