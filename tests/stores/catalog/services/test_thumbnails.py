"""Pictures of products in lists, drawn from their templates."""

import re
from decimal import Decimal
from io import BytesIO

import pytest
from PIL import Image

from accounts.callers import Caller
from stores.catalog.models import Product
from stores.catalog.services import thumbnails
from stores.catalog.services.thumbnails import PIXELS, draw_thumbnail
from stores.templates.selectors import TemplateMissing
from tests.factories.orders import make_card, make_product
from tests.support.caches import clear_caches


@pytest.fixture
def card(world):
    clear_caches()
    yield make_card(world.demo, "card")
    clear_caches()


def colors(picture: bytes) -> int:
    return len(Image.open(BytesIO(picture)).convert("RGB").getcolors(1 << 24))


def test_thumbnail_shows_the_template_with_samples_and_is_drawn_once(world, card, monkeypatch):
    caller = Caller.on_pages(world.user)
    first = draw_thumbnail(product_id=card.pk, version=card.version, caller=caller)
    with Image.open(BytesIO(first)) as picture:
        assert (picture.format, max(picture.size)) == ("WEBP", PIXELS)
    assert colors(first) > 20
    monkeypatch.setattr(thumbnails, "_draw_layout", None)
    assert draw_thumbnail(product_id=card.pk, version=card.version, caller=caller) == first


def test_lists_of_portal_and_console_show_it(world, card, signed_in):
    other = make_product(world.unassociated, "hidden")
    operator, person = signed_in(world.operator), signed_in(world.user)
    Product.objects.filter(pk=card.pk).update(image_url="/static/catalog/business-card.svg")
    make_product(world.demo, "plain", ImageURL="/static/catalog/mug.svg")

    page = operator.get("/admin/stores/product/").content.decode()
    address = f"/admin/stores/product/{card.pk}/thumbnail.webp"
    assert f'src="{address}?v={card.version}"' in page
    assert "/static/catalog/" not in page
    assert page.count('<svg class="sheet ') == 2, "one for each product without a template"
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


def test_products_without_a_template_are_told_apart_by_their_sheets(world, signed_in):
    """In the catalog by name and proportions, where they share the size by the name alone."""
    sizes = {
        "Kraft card": ("88.9", "50.8"),
        "Silk card": ("88.9", "50.8"),
        "Banner <4 ft>": ("609.6", "1828.8"),
        "Retractable": ("609.6", "1828.8"),
    }
    for number, (name, (width, height)) in enumerate(sizes.items()):
        size = {"WidthMM": Decimal(width), "HeightMM": Decimal(height)}
        make_product(world.demo, f"plain-{number}", Name=name, Category="Flat", **size)

    page = signed_in(world.user).get("/catalog/demo").content.decode()

    sheets = re.findall(r'(?s)<svg class="sheet .+?</svg>', page)
    papers = [re.findall(r'sheet-paper.+?width="(\d+)" height="(\d+)"', sheet)[-1] for sheet in sheets]
    assert len({*sheets}) == len(sizes)
    assert [round(int(width) / int(height), 1) for width, height in papers] == [1.8, 1.8, 0.3, 0.3]
    assert ">Kraft card</text>" in sheets[0]
    assert "&lt;4 ft&gt;</text>" in sheets[2]
    assert "<text" not in sheets[3], "no room for its name"
