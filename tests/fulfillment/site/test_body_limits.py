"""How large a body may be, before any of it is read."""

from urllib.parse import urlencode

import pytest
from django.http import HttpResponse
from django.test import RequestFactory

from accounts.models import Role
from fulfillment.core.api.parsing import URL_ENCODED
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


@pytest.mark.parametrize("form", [{"reason": "a\0b"}, {"\0": "a"}, {"note": ["", "\0"]}])
@pytest.mark.parametrize("address", ["/profile", "/batches/{pk}/cancel", "/orders/{pk}/cancel"])
def test_form_with_a_nul_character_is_refused(world, browser, address, form):
    for encoded in (form, urlencode(form, doseq=True)):
        kind = {} if encoded is form else {"content_type": URL_ENCODED}
        response = browser.post(address.format(pk=world.user.pk), encoded, **kind)

        assert (response.status_code, response.json()["Code"]) == (400, "invalid_request")
