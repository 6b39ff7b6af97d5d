"""Work of seconds or minutes, in which the events of others are read all the same."""

from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from applications.webhooks.services import deliveries
from fulfillment.core.audit.personal_data import ErasureOptions
from fulfillment.operations import privacy
from stores.budgets.services import people
from stores.catalog.services import uploads
from stores.catalog.services.imports import export_catalog
from tests.factories.budgets import enable_budgets
from tests.factories.webhooks import look_before, make_webhook
from tests.support.servers.queued_jobs import work_off

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def look(world, monkeypatch):
    """Begins to look, at a step; returns whether an event of another application was read at each."""

    def begin(module, step):
        pids = []
        look_before(monkeypatch, module, step, world.other_application, pids)
        return pids

    return begin


def test_catalog_that_was_uploaded(world, look):
    file = SimpleUploadedFile("catalog.json", b"".join(export_catalog(store_ids=["associated"])))
    upload = uploads.receive_catalog_upload(upload=file, by=world.operator)
    looks = look(uploads, "_finish_upload")

    work_off(uploads.TASK)

    upload.refresh_from_db()
    assert (upload.state, looks) == ("checked", [True])


def test_recovery_of_a_whole_log(world, look):
    webhook = make_webhook(world.application)
    looks = look(deliveries, "named_types")

    deliveries.recover_deliveries(webhook=webhook, since=timezone.now() - timedelta(days=1))

    assert looks == [True]


def test_erasure_of_a_user(world, look):
    looks = look(privacy, "data_providers")

    privacy.erase_user(user=world.outsider, options=ErasureOptions(disable_applications=True))

    assert looks == [True]


def test_import_of_people(world, look):
    enable_budgets(world.associated)
    looks = look(people, "plan_people")

    rows = [people.PeopleRow(2, "sales", "Sales", "")]
    people.import_people(store=world.associated, rows=rows, viewer=world.operator)

    assert looks == [True]
