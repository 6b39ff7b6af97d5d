import pytest

from stores.catalog.models import Store
from stores.catalog.services.stores import save_store
from tests.factories.stores import make_store
from tests.support.scenario import EVERY_SCOPE

PLAIN = {"StoreID", "BudgetEnabled", "BudgetTypes", "BudgetDuration", "CompanyName"}
VERBOSE = {"Description", "Currency", "TimeZone", "IsDemo", "ApprovalAbove", "ApprovalHours"} | {
    "ProductCount",
    "Created",
    "Updated",
}


def listed(client, query=""):
    return [store["StoreID"] for store in client.call("GET", f"/store{query}").json()]


@pytest.mark.parametrize(
    ("query", "members"), [("", PLAIN), ("?verbose=false", PLAIN), ("?verbose=TRUE", PLAIN | VERBOSE)]
)
def test_list_shows_the_members_of_the_contract(world, query, members):
    response = world.as_user(world.user).call("GET", f"/store{query}")

    assert response.status_code == 200
    assert response["Content-Type"] == "application/json"
    assert [set(store) for store in response.json()] == [members, members]


def test_store_shows_its_options(world):
    save_store(
        values={
            "StoreID": "demo",
            "CompanyName": "Demo",
            "IsDemo": True,
            "BudgetTypes": ["Orders"],
            "BudgetDuration": ["Yearly"],
        }
    )

    assert world.as_application().call("GET", "/store/demo").json() == {
        "StoreID": "demo",
        "BudgetEnabled": False,
        "BudgetTypes": [{"Value": "Orders", "Description": "Number of orders"}],
        "BudgetDuration": [{"Value": "Yearly", "Description": "Every year"}],
        "CompanyName": "Demo",
    }


@pytest.mark.parametrize("count", [1, 3])
def test_list_takes_two_queries(world, count, django_assert_num_queries):
    Store.objects.exclude(is_demo=True).delete()
    for _ in range(count - 1):
        make_store()
    operator = world.as_operator()

    with django_assert_num_queries(2):
        stores = operator.call("GET", "/store").json()

    assert len(stores) == count


def test_unknown_and_invisible_stores_are_not_distinguished(world):
    client = world.as_application()
    unknown, invisible = (client.call("GET", f"/store/{name}") for name in ("nothing", "unassociated"))

    assert unknown.status_code == 401
    assert unknown["Content-Type"] == "application/problem+json"
    assert unknown["WWW-Authenticate"].startswith("Bearer ")
    assert unknown.json()["Code"] == "store_invalid"
    assert unknown.json() == {**invisible.json(), "RequestID": unknown.json()["RequestID"]}


@pytest.mark.parametrize("value", ["", "1", "yes", "tru%C3%A9"])
def test_verbose_is_true_or_false(world, value):
    response = world.as_application().call("GET", f"/store?verbose={value}")

    assert response.status_code == 400
    assert [(fault["Pointer"], fault["Code"]) for fault in response.json()["Errors"]] == [
        ("?verbose", "parameter_invalid")
    ]


@pytest.mark.parametrize(
    "path",
    [
        "/store/%20",
        "/store/%F0%9F%98%80",
        "/store/%FF%FE",
        "/store/%27%3B--",
        f"/store/{'x' * 2000}",
        "/store/..%5C..",
        "/store/%25s",
    ],
)
def test_malformed_store_ids_are_unknown(world, path):
    client = world.as_application()

    assert client.call("GET", path).status_code == 401
    assert client.call("GET", f"{path}/product").status_code == 400
    assert client.call("GET", f"{path}/product/x").status_code == 400
    assert client.call("GET", f"/store/demo/product/{path[7:]}").status_code == 404


def test_unchanged_list_is_answered_without_a_body(world):
    client = world.as_application()
    first = client.call("GET", "/store")

    again = client.call("GET", "/store", headers={"If-None-Match": first["ETag"]})
    strong = client.call("GET", "/store", headers={"If-None-Match": f'"x", {first["ETag"][2:]}'})
    verbose = client.call("GET", "/store?verbose=true", headers={"If-None-Match": first["ETag"]})

    assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])
    assert (strong.status_code, verbose.status_code) == (304, 200)
    assert first["Cache-Control"] == "private, no-cache"


def test_changed_store_has_another_tag(world):
    client = world.as_application()
    first = client.call("GET", "/store/demo")
    save_store(values={"StoreID": "demo", "CompanyName": "Renamed", "IsDemo": True})

    again = client.call("GET", "/store/demo", headers={"If-None-Match": first["ETag"]})

    assert (again.status_code, again.json()["CompanyName"]) == (200, "Renamed")


def test_operator_needs_the_scope_to_see_all(world):
    assert listed(world.as_operator()) == ["associated", "demo", "unassociated"]
    assert listed(world.as_user(world.operator)) == ["demo"]
    assert listed(world.as_user(world.user, EVERY_SCOPE)) == ["associated", "demo"]
