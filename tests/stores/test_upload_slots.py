"""Pages read an uploaded file in a slot: those of all waiting requests together would take too much memory."""

import io
import json
from contextlib import closing

import pytest
from django.core.files.uploadedfile import InMemoryUploadedFile
from django.urls import reverse

from fulfillment.core.concurrency_limits import FILES
from stores.concurrency_limits import PICTURES
from tests.factories.orders import make_card

pytestmark = pytest.mark.django_db


def portal_artwork(client, product):
    return reverse("portal:artwork-asset", args=["demo", product.external_id]), {}


def console_artwork(client, product):
    return reverse("admin:stores_product_artwork_asset", args=[product.pk]), {}


def picture_of_a_form(client, product):
    return reverse("portal:product-picture", args=["demo", product.external_id]), {}


def template_editor(client, product):
    draft = {"Pages": product.template["Pages"], "Artwork": {}, "Gallery": {}, "NewFields": []}
    form = {"do": "upload", "version": product.version, "page": "0", "draft": json.dumps(draft)}
    return reverse("admin:stores_product_template", args=[product.pk]), form


def rows_of_a_batch(client, product):
    form = {"mode": "Recipients", "quantity": "100"}
    batch = client.post(reverse("portal:batch-new", args=["demo", product.external_id]), form)["Location"]
    return f"{batch}/rows", {}


def fonts(client, product):
    return reverse("admin:stores_font_add"), {}


@pytest.mark.parametrize(
    ("limit", "place"),
    [
        (PICTURES, portal_artwork),
        (PICTURES, console_artwork),
        (PICTURES, picture_of_a_form),
        (PICTURES, template_editor),
        (FILES, rows_of_a_batch),
        (FILES, fonts),
    ],
)
def test_uploaded_file_is_read_in_a_slot(world, client, settings, monkeypatch, limit, place):
    client.force_login(world.operator)
    address, form = place(client, make_card(world.demo, "business-card"))
    setattr(settings, limit.setting, 1)
    settings.CONCURRENCY_WAIT_SECONDS = 0
    file = io.BytesIO(b"%PDF-1.7")
    file.name = "some.pdf"
    monkeypatch.setattr(InMemoryUploadedFile, "read", lambda *size: pytest.fail("read before it has a slot"))

    with closing(limit.stream(iter(()), "another")):
        response = client.post(address, {**form, "file": file}, follow=True)

    assert f"The service already has as many {limit.work} in progress" in response.content.decode()


@pytest.mark.parametrize("place", ["stores_font", "stores_outputprofile", "delivery_officialform"])
def test_console_counts_added_files_by_operator(world, client, settings, place):
    client.force_login(world.operator)
    settings.FILES_CONCURRENCY, settings.CONCURRENCY_WAIT_SECONDS = 2, 0

    with closing(FILES.stream(iter(()), f"user:{world.operator.pk}")):
        response = client.post(reverse(f"admin:{place}_add"), {"file": io.BytesIO(b"")}, follow=True)

    assert "You already have as many files to read or write in progress" in response.content.decode()
