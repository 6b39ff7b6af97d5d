"""Pictures of products in lists, drawn from their templates."""

from io import BytesIO

import pytest
from PIL import Image

from accounts.callers import Caller
from fulfillment.core.caches import clear_caches
from stores.catalog.models import Product
from stores.catalog.services import thumbnails
from stores.catalog.services.thumbnails import PIXELS, draw_thumbnail
from stores.templates.selectors import TemplateMissing
from tests.factories.orders import make_card, make_product


@pytest.fixture
def card(world):
    clear_caches()
    yield make_card(world.demo, "card")
    clear_caches()


def colours(picture: bytes) -> int:
    return len(Image.open(BytesIO(picture)).convert("RGB").getcolors(1 << 24))


def test_thumbnail_shows_the_template_with_samples_and_is_drawn_once(world, card, monkeypatch):
    caller = Caller.on_pages(world.user)
    first = draw_thumbnail(product_id=card.pk, version=card.version, caller=caller)
    with Image.open(BytesIO(first)) as picture:
        assert (picture.format, max(picture.size)) == ("WEBP", PIXELS)
    assert colours(first) > 20
    monkeypatch.setattr(thumbnails, "_draw", None)
    assert draw_thumbnail(product_id=card.pk, version=card.version, caller=caller) == first


def test_lists_of_portal_and_console_show_it(world, card, signed_in):
    other = make_product(world.unassociated, "hidden")
    operator, person = signed_in(world.operator), signed_in(world.user)
    Product.objects.filter(pk=card.pk).update(image_url="/static/catalog/business-card.svg")
    plain = make_product(world.demo, "plain", ImageURL="/static/catalog/mug.svg")

    page = operator.get("/admin/stores/product/").content.decode()
    address = f"/admin/stores/product/{card.pk}/thumbnail.webp"
    assert f'src="{address}?v={card.version}"' in page
    assert f'src="{plain.image_url}"' in page
    assert "business-card.svg" not in page
    shown = operator.get(address)
    assert (shown.status_code, shown["Content-Type"]) == (200, "image/webp")
    assert shown["Cache-Control"] == "private, max-age=604800, immutable"
    assert person.get(address).status_code == 404

    path = "/catalog/demo/card/thumbnail.webp"
    assert path in person.get("/catalog/demo").content.decode()
    assert person.get(path).content == shown.content
    assert person.get(f"/catalog/unassociated/{other.external_id}/thumbnail.webp").status_code == 403
    assert person.get("/catalog/demo/nothing/thumbnail.webp").status_code == 404


def test_product_without_template_has_none(world, card):
    plain = make_product(world.demo, "plain")

    with pytest.raises(TemplateMissing):
        draw_thumbnail(product_id=plain.pk, version=plain.version, caller=Caller.on_pages(world.user))
