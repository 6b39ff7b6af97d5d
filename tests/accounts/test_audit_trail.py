"""The audit trail: written by the database, and closed to every change."""

import pytest
from django.apps import apps
from django.db import DatabaseError, connection, transaction

TRACKED = [
    ("accounts", "Role"),
    ("accounts", "AssociationRequest"),
    ("accounts", "Subscription"),
    ("accounts", "SubscriptionKey"),
    ("accounts", "User"),
    ("applications", "Application"),
    ("applications", "ApplicationKey"),
    ("applications", "OwnerInvitation"),
    ("stores", "Store"),
    ("stores", "Product"),
    ("stores", "Font"),
    ("stores", "Order"),
    ("stores", "OrderItem"),
    ("stores", "Shipment"),
]


def events(app, model):
    return apps.get_model(app, f"{model}Event").objects.order_by("pk")


@pytest.mark.parametrize(("app", "model"), TRACKED)
def test_events_of_each_tracked_model_can_only_be_added(world, app, model):
    event_model = apps.get_model(app, f"{model}Event")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tgtype FROM pg_trigger WHERE tgrelid = %s::regclass AND tgname LIKE %s",
            (event_model._meta.db_table, "pgtrigger_append_only%"),
        )
        kinds = cursor.fetchone()[0]

    assert kinds & 0b11000 == 0b11000, "a trigger guards DELETE and UPDATE"


def test_event_resists_update_and_delete(world):
    for statement in ("UPDATE accounts_roleevent SET grant = 'x'", "DELETE FROM accounts_roleevent"):
        with (
            pytest.raises(DatabaseError, match="append_only"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(statement.replace("grant", '"grant"'))


def test_api_write_names_user_and_application(world):
    world.as_user(world.user).call(
        "PATCH", f"/application/{world.application.pk}", {"Description": "Changed"}
    )

    last = events("applications", "Application").filter(pgh_label="update").last()
    assert last.description == "Changed"
    assert last.pgh_context.metadata == {
        "url": f"/api/v1/application/{world.application.pk}",
        "user": str(world.user.pk),
        "application": str(world.console.pk),
    }


def test_application_on_its_own_is_named(world):
    world.as_application().call("POST", "/association", {"StoreID": "unassociated"})

    metadata = events("accounts", "AssociationRequest").last().pgh_context.metadata
    assert (metadata["user"], metadata["application"]) == (None, str(world.application.pk))


def test_page_write_names_the_signed_in_user(world, client):
    client.force_login(world.user)

    client.post("/profile/keys/primary/regenerate", {"confirm": "1"})
    client.post("/profile", {"first_name": "Una", "last_name": "L", "phone": "", "time_zone": "UTC"})

    last = events("accounts", "User").filter(pgh_label="update", first_name="Una").last()
    assert last.pgh_context.metadata["user"] == str(world.user.pk)


def test_deleted_key_stays_in_the_trail_without_its_secret(world):
    key = world.application.keys.get()
    world.as_user(world.user).call("PATCH", f"/application/{world.application.pk}/key/{key.pk}/regenerate")

    kept = events("applications", "ApplicationKey").filter(pgh_obj_id=key.pk)
    columns = {
        field.name for field in apps.get_model("applications", "ApplicationKeyEvent")._meta.get_fields()
    }
    assert list(kept.values_list("pgh_label", flat=True)) == ["insert", "delete"]
    assert columns.isdisjoint({"digest", "ciphertext"})


def test_password_is_not_in_the_trail():
    columns = {field.name for field in apps.get_model("accounts", "UserEvent")._meta.get_fields()}

    assert "password" not in columns
