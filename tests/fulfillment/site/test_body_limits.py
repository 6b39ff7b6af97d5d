"""How large a body may be, before any of it is read."""

import pytest
from django.http import HttpResponse
from django.test import RequestFactory

from accounts.models import Role
from fulfillment.site.middleware import BodyLimits

MEGABYTE = 1024 * 1024


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("person", "megabytes", "status"),
    [("outsider", 100, 200), ("outsider", 120, 413), ("operator", 500, 200), ("user_without_roles", 33, 413)],
)
def test_console_takes_very_large_files_of_operators_alone(world, person, megabytes, status):
    if person == "outsider":
        Role.objects.create(user=world.outsider, store=world.associated, grant="Order.All.Read")
    request = RequestFactory().post(
        "/admin/stores/order/", {"file": "x"}, CONTENT_LENGTH=str(megabytes * MEGABYTE)
    )
    request.user = world.operator if person == "operator" else world.outsider

    assert BodyLimits(lambda _: HttpResponse())(request).status_code == status
