"""An answer is given again only to who may still ask for it."""

from io import BytesIO

import pytest
from PIL import Image

from accounts.models import IdempotentResponse, Role
from fulfillment.core.secrets import encrypt
from tests.factories.orders import order_body

QUOTE = {"Items": [{"ProductID": "card", "Quantity": 100}], "ShipTo": {"CountryCode": "US"}}


def send(shop, thing):
    client, path = shop.world.as_application(), f"/store/associated/{thing}"
    if thing == "asset":
        picture = BytesIO()
        Image.new("RGB", (6, 4), "teal").save(picture, "PNG")
        body = picture.getvalue()
        return client.post(f"/api/v1{path}", body, content_type="image/png", HTTP_IDEMPOTENCY_KEY="k-1")
    body = order_body() if thing == "order" else QUOTE
    return client.call("POST", path, body, HTTP_IDEMPOTENCY_KEY="k-1")


@pytest.mark.parametrize("thing", ["order", "quote", "asset"])
def test_nothing_is_answered_again_after_the_association_has_ended(shop, thing):
    first, again = send(shop, thing), send(shop, thing)
    assert (first.status_code, again["Idempotent-Replayed"]) == (201, "true")
    Role.objects.filter(application=shop.world.application, store=shop.store).delete()

    refused = send(shop, thing)

    assert (refused.status_code, refused.json()["Code"]) == (403, "association_required")


def test_long_response_is_given_again_in_a_slot(shop, settings):
    settings.CONCURRENCY_WAIT_SECONDS = settings.FILES_CONCURRENCY = 0
    assert (send(shop, "quote").status_code, send(shop, "quote").status_code) == (201, 201)

    IdempotentResponse.objects.update(body=encrypt("x" * 600_000))

    assert (send(shop, "quote").status_code, send(shop, "quote").json()["Code"]) == (503, "service_busy")
    settings.FILES_CONCURRENCY = 1
    assert len(send(shop, "quote").content) == 600_000
