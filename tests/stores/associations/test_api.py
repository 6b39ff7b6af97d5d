import threading
import tracemalloc

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import AssociationRequest, AssociationState, Role
from tests.support.scenario import build_world

STORE_USUAL = ["Store.Self.Read", "Order.Self.Read", "Order.Self.Write"]


def ask(client, **body):
    return client.call("POST", "/association", body)


def test_application_requests_a_store_and_uses_it_once_approved(world):
    application = world.as_application()
    assert application.call("GET", "/store/unassociated/product").status_code == 403

    requested = ask(application, StoreID="unassociated", Message="Please")
    approved = world.as_operator().call(
        "POST", f"/association/{requested.json()['ID']}/approve", {"Note": "Welcome"}
    )

    assert requested.status_code == 201
    assert requested["Location"] == f"/api/v1/association/{requested.json()['ID']}"
    assert requested.json()["State"] == "Pending"
    record = approved.json()
    assert (record["State"], record["Note"], record["Grants"]) == ("Approved", "Welcome", STORE_USUAL)
    assert application.call("GET", "/store/unassociated/product").status_code == 200


def test_user_requests_an_application_and_reads_it_once_approved(world):
    outsider = world.as_user(world.outsider)

    requested = ask(outsider, ApplicationID=world.application.client_id).json()
    world.as_operator().call("POST", f"/association/{requested['ID']}/approve")

    assert (requested["UserID"], requested["StoreID"]) == (str(world.outsider.pk), None)
    assert outsider.call("GET", f"/application/{world.application.pk}").status_code == 200
    assert outsider.call("PATCH", f"/application/{world.application.pk}", {"Name": "x"}).status_code == 403


def test_request_again_while_pending_answers_the_same_record(world):
    first = ask(world.as_application(), StoreID="unassociated")
    second = ask(world.as_user(world.user), StoreID="unassociated", ApplicationID=str(world.application.pk))

    assert (first.status_code, second.status_code) == (201, 200)
    assert second.json() == first.json()


@pytest.mark.parametrize("first", ["approve", "deny", "withdraw"])
@pytest.mark.parametrize("second", ["approve", "deny", "withdraw"])
def test_decided_request_cannot_be_decided_again(world, first, second):
    operator = world.as_operator()
    requested = ask(world.as_application(), StoreID="unassociated").json()

    assert operator.call("POST", f"/association/{requested['ID']}/{first}").status_code == 200
    refused = operator.call("POST", f"/association/{requested['ID']}/{second}")

    assert (refused.status_code, refused.json()["Code"]) == (409, "association_already_decided")
    granted = Role.objects.filter(store=world.unassociated).exists()
    assert granted == (first == "approve")


def test_approval_grants_what_is_chosen_else_what_was_requested(world):
    operator = world.as_operator()
    requested = ask(world.as_application(), StoreID="unassociated", Grants=["Order.All.Read"]).json()
    answer = operator.call("POST", f"/association/{requested['ID']}/approve").json()
    other = ask(world.as_application(world.other_application), StoreID="unassociated").json()
    chosen = operator.call(
        "POST", f"/association/{other['ID']}/approve", {"Grants": ["Store.Self.Read"]}
    ).json()

    assert (answer["Grants"], chosen["Grants"]) == (["Order.All.Read"], ["Store.Self.Read"])
    assert set(Role.objects.filter(store=world.unassociated).values_list("application_id", "grant")) == {
        (world.application.pk, "Order.All.Read"),
        (world.other_application.pk, "Store.Self.Read"),
    }


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/StoreID"),
        ({"StoreID": "none"}, "/StoreID"),
        ({"StoreID": "unassociated", "Grants": ["Everything"]}, "/Grants/0"),
        ({"StoreID": "unassociated", "Grants": ["Application.Self.Read"]}, "/Grants"),
        ({"StoreID": "unassociated", "State": "Approved"}, "/State"),
    ],
)
def test_request_refused_names_the_field(world, body, pointer):
    response = ask(world.as_application(), **body)

    assert response.status_code == 400
    assert pointer in {error["Pointer"] for error in response.json()["Errors"]}
    assert not AssociationRequest.objects.exists()


def test_everyone_sees_their_own_requests_only(world):
    requested = ask(world.as_application(), StoreID="unassociated").json()["ID"]

    def seen(client, query=""):
        return [record["ID"] for record in client.call("GET", f"/association{query}").json()]

    assert (
        seen(world.as_user(world.user))
        == seen(world.as_application())
        == seen(world.as_operator())
        == [requested]
    )
    assert seen(world.as_user(world.outsider)) == seen(world.as_application(world.other_application)) == []
    assert seen(world.as_operator(), "?state=Denied") == []
    assert world.as_operator().call("GET", "/association?state=odd").status_code == 400


@pytest.mark.parametrize("more", [1, 3])
def test_request_list_takes_a_fixed_number_of_queries(world, django_assert_num_queries, more):
    for number in range(more):
        AssociationRequest.objects.create(
            application=world.application,
            user=world.operator,
            state="Withdrawn",
            decided="2026-01-01T00:00:00Z",
            message=str(number),
        )
    client = world.as_operator()

    with django_assert_num_queries(3):
        assert len(client.call("GET", "/association").json()) == more


@pytest.mark.django_db(transaction=True)
def test_request_approved_and_denied_at_once_has_one_winner():
    world = build_world()
    operator = world.as_operator()
    requested = ask(world.as_application(), StoreID="unassociated").json()["ID"]
    barrier, answers = threading.Barrier(8), []

    def decide(decision):
        barrier.wait()
        answers.append(operator.call("POST", f"/association/{requested}/{decision}").status_code)
        connection.close()

    threads = [threading.Thread(target=decide, args=(name,)) for name in ("approve", "deny") * 4]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]

    assert sorted(answers) == [200] + [409] * 7
    approved = AssociationRequest.objects.get().state == "Approved"
    assert Role.objects.filter(store=world.unassociated).exists() == approved


def test_list_has_the_newest_requests(world, monkeypatch):
    """One applicant may make thousands."""
    monkeypatch.setattr("stores.associations.api.MAX_LISTED", 2)
    user = world.as_user(world.user)
    made = []
    for _ in range(3):
        body = {"StoreID": "unassociated", "ApplicationID": str(world.application.pk)}
        made.append(user.call("POST", "/association", body).json()["ID"])
        user.call("POST", f"/association/{made[-1]}/withdraw")

    assert [record["ID"] for record in user.call("GET", "/association").json()] == made[:0:-1]


def test_list_reads_no_large_columns_of_applications_and_stores(world):
    """With those of its application, 1,000 requests took 200 MB."""
    world.application.redirect_uris = " ".join(f"https://client.example/{'x' * 2000}{n}" for n in range(50))
    world.application.save()
    own = {"application": world.application, "store": world.unassociated, "requested_by": world.user}
    ended = {"state": AssociationState.WITHDRAWN, "decided": timezone.now()}
    AssociationRequest.objects.bulk_create(AssociationRequest(**own, **ended) for _ in range(100))
    application = world.as_application()
    application.call("GET", "/association")

    tracemalloc.start()
    try:
        listed = application.call("GET", "/association").json()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert len(listed) == 100
    # The redirect URIs alone would take 10 million bytes.
    assert peak < 5_000_000
