"""Registering test applications, and how they come to their stores."""

import pytest
from django.db import DatabaseError, IntegrityError, transaction

from accounts.models import AssociationRequest, Role
from accounts.permissions import DEFAULT_STORE_GRANTS
from applications.registration.models import Application
from applications.webhooks.models import Event
from stores.catalog.models import Store
from tests.support.api.modes import add_test_application


@pytest.fixture
def owner(world):
    return world.as_user(world.user)


@pytest.fixture
def test_application(world):
    application = add_test_application(world)
    Role.objects.filter(application=application, store__isnull=False).delete()
    return application


def register(client, **values):
    return client.call("POST", "/application", {"Name": "Trial", **values})


def test_registration_takes_the_mode_and_answers_it(owner):
    assert register(owner).json()["IsTest"] is False
    response = register(owner, IsTest=True)
    assert (response.status_code, response.json()["IsTest"]) == (201, True)

    path = f"/application/{response.json()['ID']}"
    assert owner.call("GET", f"{path}?verbose=true").json()["IsTest"] is True
    assert "IsTest" not in owner.call("GET", path).json()


def test_mode_never_changes(owner):
    application = register(owner, IsTest=True).json()
    path = f"/application/{application['ID']}"

    assert owner.call("PATCH", path, {"IsTest": True, "Name": "Again"}).status_code == 200
    refused = owner.call("PATCH", path, {"IsTest": False})

    assert refused.status_code == 400
    assert [(e["Pointer"], e["Code"]) for e in refused.json()["Errors"]] == [("/IsTest", "is_test_fixed")]
    with pytest.raises(DatabaseError, match="Cannot update"), transaction.atomic():
        Application.objects.filter(pk=application["ID"]).update(is_test=False)
    with pytest.raises(IntegrityError), transaction.atomic():
        Application.objects.filter(pk=application["ID"]).update(is_first_party=True)


def test_application_registered_by_a_test_application_is_a_test(world, test_application):
    client = world.as_user(world.user, application=test_application)

    assert register(client).json()["IsTest"] is True
    refused = register(client, IsTest=False)
    assert refused.json()["Errors"][0]["Code"] == "test_application"


def test_store_that_lets_them_in_approves_at_once(world, test_application):
    Store.objects.filter(pk=world.unassociated.pk).update(admits_test_applications=True)
    client = world.as_application(test_application)

    requested = client.call("POST", "/association", {"StoreID": "unassociated"})
    again = client.call("POST", "/association", {"StoreID": "unassociated"})

    assert (requested.status_code, requested.json()["State"]) == (201, "Approved")
    assert requested.json()["Grants"] == list(DEFAULT_STORE_GRANTS)
    assert (again.status_code, again.json()["ID"]) == (200, requested.json()["ID"])
    assert client.call("GET", "/store/unassociated/product").status_code == 200
    reported = Event.objects.get(application=test_application)
    assert (reported.type, reported.data["IsTest"]) == ("association.approved", True)


@pytest.mark.parametrize(
    ("admits", "is_test", "grants"),
    [
        (False, True, []),
        (True, False, []),
        (True, True, ["Store.All.Read"]),
        (True, True, ["Order.Self.Write", "Order.All.Read"]),
    ],
)
def test_others_wait_for_an_operator(world, test_application, admits, is_test, grants):
    Store.objects.filter(pk=world.unassociated.pk).update(admits_test_applications=admits)
    client = world.as_application(test_application if is_test else world.application)

    requested = client.call("POST", "/association", {"StoreID": "unassociated", "Grants": grants})

    assert (requested.status_code, requested.json()["State"]) == (201, "Pending")
    assert AssociationRequest.objects.get().state == "Pending"
    assert client.call("GET", "/store/unassociated/product").status_code == 403


def test_owner_manages_events_and_webhooks_through_own_applications_alone(world, test_application, owner):
    path = f"/application/{test_application.pk}"
    response = owner.call("POST", f"{path}/webhook", {"URL": "https://192.0.43.8/events"})
    assert response.status_code == 201
    assert owner.call("GET", f"{path}/event").status_code == 200

    through_live = world.as_user(world.user, application=world.application)
    for method, place in (("GET", "/event"), ("GET", "/webhook"), ("GET", "")):
        refused = through_live.call(method, path + place)
        assert (refused.status_code, refused.json()["Code"]) == (404, "application_not_found")
    assert str(test_application.pk) not in through_live.call("GET", "/application").content.decode()
