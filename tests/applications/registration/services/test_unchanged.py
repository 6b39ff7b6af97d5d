"""Saving what is stored already writes nothing, so that the audit trail has no entry without a change."""

from io import BytesIO

import pytest
from PIL import Image

from applications.registration.services.applications import change_application, ensure_api_console
from applications.registration.services.icons import set_icon
from applications.webhooks.services.webhooks import change_webhook
from stores.catalog.services.stores import save_profile
from tests.factories.applications import ApplicationFactory
from tests.factories.stores import make_store
from tests.factories.webhooks import make_webhook


def picture(side: int, color: str) -> bytes:
    out = BytesIO()
    Image.new("RGB", (side, side), color).save(out, "PNG")
    return out.getvalue()


def of_an_application():
    application = ApplicationFactory(name="First")
    return lambda color: change_application(application=application, values={"Name": color})


def of_a_webhook():
    webhook = make_webhook(ApplicationFactory())
    types = {"red": ["order.*"], "blue": ["*"]}
    return lambda color: change_webhook(webhook=webhook, values={"EventTypes": types[color]})


def of_an_icon():
    application = ApplicationFactory()
    return lambda color: set_icon(application=application, content=picture(215, color))


def of_a_profile():
    store = make_store()
    values = {"Country": "Austria", "Website": "", "IsListed": True}
    return lambda color: save_profile(store=store, values=values, logo=picture(64, color))


@pytest.mark.django_db
@pytest.mark.parametrize("prepare", [of_an_application, of_a_webhook, of_an_icon, of_a_profile])
def test_same_values_again_write_no_audit_entry(prepare):
    save = prepare()
    record = save("red")
    events = type(record).pgh_event_model.objects.filter(pgh_obj_id=record.pk)
    first, moment = events.count(), type(record).objects.get(pk=record.pk).updated

    save("red")
    assert events.count() == first
    assert type(record).objects.get(pk=record.pk).updated == moment

    save("blue")
    assert events.count() == first + 1


@pytest.mark.django_db
def test_start_of_the_service_writes_an_audit_entry_only_for_a_new_address(settings):
    console = ensure_api_console()
    events = type(console).pgh_event_model.objects.filter(pgh_obj_id=console.pk)
    first = events.count()

    assert ensure_api_console() == console
    assert events.count() == first

    settings.PUBLIC_URL = "https://moved.example"
    assert ensure_api_console().application_url == "https://moved.example"
    assert events.count() == first + 1
