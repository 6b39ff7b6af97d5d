from datetime import timedelta

from django.utils import timezone

from applications.registration.models import ApplicationKey


def regenerate(client, application, key_id):
    return client.call("PATCH", f"/application/{application.pk}/key/{key_id}/regenerate")


def test_regenerated_key_keeps_dates_and_changes_id_and_value(world):
    client = world.as_user(world.user)
    old = client.call("GET", f"/application/{world.application.pk}").json()["Keys"][0]

    response = regenerate(client, world.application, old["ID"])
    new = response.json()

    assert response.status_code == 200
    assert (new["StartDate"], new["EndDate"]) == (old["StartDate"], old["EndDate"])
    assert new["ID"] != old["ID"]
    assert new["Value"] != old["Value"]
    assert regenerate(client, world.application, old["ID"]).status_code == 404


def test_regenerate_takes_any_body_and_reads_none(world):
    key = world.application.keys.get()
    path = f"/application/{world.application.pk}/key/{key.pk}/regenerate"

    response = world.as_user(world.user).generic(
        "PATCH", f"/api/v1{path}", b"not json", content_type="text/plain"
    )

    assert response.status_code == 200


def test_ended_key_cannot_be_regenerated(world):
    key = world.application.keys.get()
    now = timezone.now()
    ApplicationKey.objects.filter(pk=key.pk).update(start_date=now - timedelta(days=2), end_date=now)

    response = regenerate(world.as_user(world.user), world.application, key.pk)

    assert (response.status_code, response.json()["Code"]) == (409, "key_ended")
    assert ApplicationKey.objects.filter(pk=key.pk).exists()


def test_key_of_another_application_is_404(world):
    key = world.other_application.keys.get()

    assert regenerate(world.as_user(world.user), world.application, key.pk).status_code == 404
    assert ApplicationKey.objects.filter(pk=key.pk).exists()
