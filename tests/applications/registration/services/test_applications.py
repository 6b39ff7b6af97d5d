"""Registering, called directly; the API and the portal have tests of their own."""

import pytest

from accounts.callers import Caller
from applications.registration.models import Application
from applications.registration.services.applications import create_application
from fulfillment.core.errors import Conflict


def test_person_registers_so_many_applications_and_an_operator_any_number(world, settings):
    settings.APPLICATIONS_PER_USER = Application.objects.filter(user=world.user).count() + 1
    person, operator = Caller.on_pages(world.user), Caller.on_pages(world.operator)
    create_application(caller=person, values={"Name": "The last"})

    with pytest.raises(Conflict) as refused:
        create_application(caller=person, values={"Name": "One more"})
    for number in range(settings.APPLICATIONS_PER_USER + 1):
        create_application(caller=operator, values={"Name": f"Of an operator {number}"})

    assert refused.value.code == "too_many_applications"
    assert f"registered {settings.APPLICATIONS_PER_USER} applications" in refused.value.message
    assert not Application.objects.filter(name="One more").exists()
