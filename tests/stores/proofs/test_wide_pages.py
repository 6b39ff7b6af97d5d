import threading
from io import BytesIO

import pytest
from django.core.files.storage import default_storage
from PIL import Image, ImageChops, ImageStat

from printing.typesetting import pdf_pages
from stores.proofs.file_names import proof_folder
from stores.proofs.models import Proof
from stores.proofs.services import proofs
from stores.proofs.services.retention import delete_proof
from tests.factories.templates import make_card, page, text_box
from tests.support.patience import PATIENCE

PATH = "/store/associated/product/card/proof"


@pytest.fixture
def drawn(monkeypatch):
    """The widths of the pages that were drawn."""
    widths = []

    def draw(*args, pixels, **options):
        widths.append(pixels)
        return pdf_pages.render_pdf_page(*args, pixels=pixels, **options)

    monkeypatch.setattr(proofs, "render_pdf_page", draw)
    return widths


@pytest.fixture
def proof(world, settings):
    # The typesetter's PDF shows the mark a little darker than its pictures.
    settings.PROOF_WATERMARK = ""
    make_card(world.associated)
    record = world.as_application().call("POST", PATH, {"Name": "Ada"}).json()
    return record["Side1URL"].removeprefix("http://127.0.0.1:8000")


def picture_at(client, url):
    response = client.get(url)
    assert response.status_code == 200, b"".join(response)
    return Image.open(BytesIO(b"".join(response.streaming_content)))


def files():
    digest = Proof.objects.get().digest
    return sorted(default_storage.listdir(proof_folder(digest))[1])


@pytest.mark.parametrize(("requested", "width"), [("1", 100), ("700", 700), ("701", 800), ("3000", 3000)])
def test_page_is_drawn_in_the_requested_width(client, proof, requested, width):
    picture = picture_at(client, f"{proof}?width={requested}")

    assert picture.size == (width, round(width * 50.8 / 88.9))


def test_wide_page_is_drawn_once_and_kept_with_the_proof(client, proof, drawn, django_assert_num_queries):
    first = picture_at(client, f"{proof}?width=750").tobytes()
    with django_assert_num_queries(0):
        again = picture_at(client, f"{proof}?width=800").tobytes()

    assert first == again
    assert drawn == [800]
    assert files() == ["page-1-800.png", "page-1.png", "proof.pdf"]


def test_wide_page_shows_what_the_stored_page_shows(client, proof):
    stored = picture_at(client, proof).convert("L")
    wide = picture_at(client, f"{proof}?width=1100").convert("L").resize(stored.size)

    # Edges are drawn a little softer or harder.
    stored, wide = stored.reduce(8), wide.reduce(8)
    assert ImageStat.Stat(ImageChops.invert(stored)).mean[0] > 0.3
    assert ImageStat.Stat(ImageChops.difference(stored, wide)).mean[0] < 0.1


def test_wide_page_has_a_tag_of_its_own(client, proof):
    stored, small, wide = (
        client.head(f"{proof}{query}")["ETag"] for query in ("", "?width=700", "?width=800")
    )

    assert len({stored, small, wide}) == 3
    headers = {"If-None-Match": wide}
    assert client.get(f"{proof}?width=800", headers=headers).status_code == 304
    assert client.head(f"{proof}?width=700", headers=headers).status_code == 200


@pytest.mark.parametrize("width", ["0", "3001", "-1", "1.5", "abc", "", "٣٠٠", "1e3", "9" * 400])
def test_other_width_is_refused_with_what_is_allowed(client, proof, drawn, width):
    response = client.get(proof, {"width": width})

    assert response.status_code == 400
    assert response.content == b"The width must be a whole number of pixels from 1 to 3000.\n"
    assert drawn == []


def test_long_page_has_at_most_16_megapixels(world, client):
    banner = page(text_box("Name")) | {"WidthMM": 200, "HeightMM": 800}
    make_card(world.associated, Template={"Pages": [banner]}, WidthMM=200, HeightMM=800)
    record = world.as_application().call("POST", PATH, {"Name": "Ada"}).json()
    address = record["Side1URL"].removeprefix("http://127.0.0.1:8000")

    width, height = picture_at(client, f"{address}?width=3000").size

    assert 15_900_000 < width * height <= 16_000_000


def test_address_draws_a_limited_number_of_pages_in_a_minute(client, proof, settings):
    settings.WIDE_PAGES_PER_MINUTE = 1
    picture_at(client, f"{proof}?width=500")

    refused = client.get(f"{proof}?width=600")

    assert refused.status_code == 429
    assert int(refused["Retry-After"]) > 0
    picture_at(client, f"{proof}?width=500")
    picture_at(client, proof)


def test_page_is_refused_while_all_renderings_are_under_way(client, proof, settings):
    settings.CONCURRENCY_WAIT_SECONDS = 0
    settings.RENDERINGS_CONCURRENCY = 1
    begun, ended = threading.Event(), threading.Event()

    def render_for_another():
        with proofs.RENDERINGS.slot("another"):
            begun.set()
            ended.wait(PATIENCE)

    other = threading.Thread(target=render_for_another)
    other.start()
    begun.wait(PATIENCE)
    refused = client.get(f"{proof}?width=600")
    ended.set()
    other.join(PATIENCE)

    assert refused.status_code == 503
    assert "Retry-After" in refused


def test_wide_pages_are_removed_with_their_proof(client, proof):
    picture_at(client, f"{proof}?width=600")
    digest = Proof.objects.get().digest

    delete_proof(digest=digest)

    assert not default_storage.exists(f"{proof_folder(digest)}/page-1-600.png")
    assert client.get(f"{proof}?width=600").status_code == 404
    assert client.get(f"{proof}?width=700").status_code == 404


def test_page_drawn_while_its_proof_is_removed_is_not_kept(client, proof, monkeypatch):
    digest = Proof.objects.get().digest

    def draw(*args, **options):
        picture = pdf_pages.render_pdf_page(*args, **options)
        delete_proof(digest=digest)
        return picture

    monkeypatch.setattr(proofs, "render_pdf_page", draw)

    assert client.get(f"{proof}?width=600").status_code == 404
    assert not default_storage.exists(f"{proof_folder(digest)}/page-1-600.png")
