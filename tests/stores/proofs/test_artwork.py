"""Print-ready PDFs over the API: uploaded, checked on a product, ordered, and removed."""

from datetime import timedelta
from decimal import Decimal
from io import BytesIO

import pikepdf
import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import TestCase
from django.utils import timezone
from PIL import Image

from printing.artwork.parts import ArtworkFacts, ArtworkPart, Part
from printing.documents import PlacedDocument, place_document
from printing.preflight import background_pixels
from printing.typesetting import RenderingTimedOut
from printing.typesetting.workers import shared_workers
from stores.orders.models import ActorKind, Order, OrderItem, OrderStatus, Quote
from stores.orders.services import order_prints
from stores.orders.services.changes import Actor
from stores.orders.services.recipients import erase_recipient
from stores.proofs.file_names import DOCUMENTS
from stores.proofs.models import Asset, Proof
from stores.proofs.services import artwork
from stores.proofs.services.artwork import CACHE_BYTES, _placed_cache
from tests.factories.orders import DESIGNS, make_design, make_product, order_body
from tests.factories.presets import PrintPresetFactory
from tests.support.printing.document_making import MM, document, written

pytestmark = pytest.mark.usefixtures("tasks_in_this_process")

PATH = "/api/v1/store/associated/asset"


@pytest.fixture
def client(shop):
    return shop.world.as_application()


@pytest.fixture
def card(shop):
    return make_product(shop.store, "leaflet", PageCount=1, WidthMM=Decimal("88.9"), HeightMM=Decimal("50.8"))


def send(client, content):
    return client.post(PATH, content, content_type="application/pdf")


def sent(client, content):
    response = send(client, content)
    assert response.status_code == 201, response.content
    return response.json()


def check(client, asset, product="leaflet", query="", **more):
    path = f"/store/associated/product/{product}/artwork{query}"
    return client.call("POST", path, {"AssetID": asset["AssetID"], **more})


def findings(client, content, product="leaflet", **more):
    response = check(client, sent(client, content), product, **more)
    assert response.status_code == 200, response.content
    return [(finding["Code"], finding["Severity"]) for finding in response.json()["Preflight"]]


def fetch(client, url):
    response = client.get(url.removeprefix("http://127.0.0.1:8000"))
    assert response.status_code == 200
    return b"".join(response.streaming_content)


def fault(response):
    assert response.status_code == 400, response.content
    [error] = response.json()["Errors"]
    return error["Pointer"], error["Code"]


@pytest.fixture(autouse=True)
def documents(stored_files):
    """The stored PDFs; none at first."""
    for name in stored_files(DOCUMENTS):
        default_storage.delete(name)
    return lambda: stored_files(DOCUMENTS)


def test_pdf_is_taken_with_the_boxes_of_its_pages(client):
    record = sent(client, document(pages=2, margin=5))

    assert set(record) == {"AssetID", "Width", "Height", "Pages", "URL", "Created"}
    assert (
        record["Pages"]
        == [
            {
                "WidthMM": 105.25,
                "HeightMM": 67.15,
                "TrimBox": {"X": 8.17, "Y": 8.18, "Width": 88.9, "Height": 50.8},
                "BleedBox": {"X": 5.0, "Y": 5.0, "Width": 95.25, "Height": 57.15},
            }
        ]
        * 2
    )


def test_pdf_in_a_form_is_known_by_its_content(client):
    file = SimpleUploadedFile("card.bin", document(), content_type="application/octet-stream")

    assert len(client.post(PATH, {"file": file}).json()["Pages"]) == 1


def test_pdf_is_served_without_its_scripts_and_attachments(client):
    with pikepdf.open(BytesIO(document())) as pdf:
        pdf.Root.OpenAction = pikepdf.Dictionary(S=pikepdf.Name.JavaScript, JS="app.alert(1)")
        pdf.attachments["secret.txt"] = b"SECRET"
        content = written(pdf)

    served = fetch(client, sent(client, content)["URL"])

    assert served.startswith(b"%PDF-")
    assert b"JavaScript" not in served
    assert b"EmbeddedFile" not in served


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        (b"\x89PNG not a PDF", "asset_not_pdf", "is not a PDF"),
        (document()[:400], "asset_damaged", "is damaged"),
        (document(pages=201), "asset_pages", "1 to 200"),
        (document(size=(3, 3), bleed=0), "asset_page_size", "page 1 of 3 x 3 mm"),
    ],
)
def test_file_that_cannot_be_printed_is_refused_with_a_sentence(client, content, code, words):
    response = send(client, content)

    assert (response.status_code, response.json()["Code"]) == (400, code)
    assert words in response.json()["Errors"][0]["Message"]
    assert not Asset.objects.exists()


def test_pdf_with_a_password_is_refused(client):
    with pikepdf.open(BytesIO(document())) as pdf:
        content = written(pdf, encryption=pikepdf.Encryption(owner="owner", user="user"))

    response = send(client, content)

    assert (response.status_code, response.json()["Code"]) == (400, "asset_password")


def test_pdf_of_more_than_a_hundred_megabytes_is_refused_unread(client):
    response = send(client, b"%PDF-1.7" + b"0" * (100 * 1024 * 1024))

    assert (response.status_code, response.json()["Code"]) == (400, "asset_too_large")


def test_good_pdf_has_no_findings_and_a_proof(client, card):
    response = check(client, sent(client, document()))

    assert response.status_code == 200, response.content
    proof = response.json()
    assert (proof["ProductID"], proof["Preflight"], len(proof["PageURLs"])) == ("leaflet", [], 1)
    page = Image.open(BytesIO(fetch(client, proof["Side1URL"])))
    assert page.size == (504, 288)
    assert fetch(client, proof["PdfURL"]).startswith(b"%PDF-")


def test_pdf_for_a_die_cut_product_needs_its_die_line(client, shop):
    make_design(shop.store, "sticker-round-3in")
    own = (DESIGNS / "sticker-round-3in" / "sticker.pdf").read_bytes()

    bare, cut = (findings(client, content, "sticker-round-3in") for content in (document(), own))

    assert ("die_line_missing", "Warning") in bare
    assert "die_line_missing" not in {code for code, _ in cut}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (document(with_boxes=False), []),
        (document(margin=9), []),
        (document(bleed=0), [("bleed_missing", "Error")]),
        (document(bleed=0, with_boxes=False), [("bleed_missing", "Error")]),
        (document(size=(210, 297)), [("artwork_size", "Error")]),
        (document(size=(89.7, 51.5)), []),
        (document(size=(90.0, 50.8)), [("artwork_size", "Error")]),
        (document(size=(50.8, 88.9), Rotate=90), []),
        (document(size=(50.8, 88.9)), [("artwork_size", "Error")]),
        (document(size=(44.45, 25.4), bleed=1.5875, UserUnit=2), []),
        (document(pages=3), [("artwork_pages_ignored", "Warning")]),
        (document(bleed=0, content=b"0 0 0 0.5 k 60 60 60 20 re f"), []),
    ],
)
def test_artwork_is_placed_by_its_trim_and_never_scaled(client, card, content, expected):
    assert findings(client, content) == expected


def test_press_proof_of_a_pdf_that_no_press_takes_costs_no_renderer(client, shop, caplog):
    PrintPresetFactory(code="coated", policy="CMYK")
    make_product(
        shop.store, "leaflet", PageCount=1, Preset="coated", WidthMM=Decimal(89), HeightMM=Decimal(51)
    )
    asset = sent(client, document(content=b"/A /B /C /D k 0 0 100 100 re f"))
    assert check(client, asset).status_code == 200, "and a renderer has started"
    before = {worker.process.pid for worker in shared_workers._idle}

    refused = check(client, asset, "leaflet", query="?proof=press")

    assert fault(refused) == ("/AssetID", "artwork_unusable")
    assert before <= {worker.process.pid for worker in shared_workers._idle}
    assert not [record for record in caplog.records if record.exc_info], (
        "a stack trace says nothing of the PDF"
    )


def test_first_page_chooses_a_part_of_the_pdf(client, card, shop):
    make_product(shop.store, "sheet", PageCount=2, WidthMM=Decimal("88.9"), HeightMM=Decimal("50.8"))
    content = document(pages=3)

    assert findings(client, content, FirstPage=3) == []
    assert findings(client, content, "sheet", FirstPage=2) == []
    assert findings(client, content, "sheet", FirstPage=3) == [("artwork_pages_missing", "Error")]


def test_placed_pages_are_kept_by_the_memory_of_what_is_known_of_them():
    """Two pages with 4,800 parts take 2 MB, and their compressed files 40 kB."""
    parts = (ArtworkPart(Part.TEXT),) * (CACHE_BYTES // 1000)
    for number in range(4):
        facts = ArtworkFacts(1, 1, parts, bare=b"%PDF")
        _placed_cache.put((number,), PlacedDocument((b"%PDF",), (b"%PDF",), (facts,), 0))

    assert _placed_cache.get((3,)) is not None
    assert _placed_cache.get((0,)) is None


@pytest.mark.parametrize(("capacity", "times"), [(1_000, 2), (CACHE_BYTES, 1)])
def test_pages_heavier_than_the_memory_for_them_are_not_kept(client, card, monkeypatch, capacity, times):
    """One of 380 MB stayed in a web process until another took its place."""
    placed = []
    monkeypatch.setattr(artwork, "CACHE_BYTES", capacity)
    monkeypatch.setattr(
        artwork, "place_document", lambda *some, **more: placed.append(1) or place_document(*some, **more)
    )
    asset = sent(client, document(margin=5 + times))

    assert [check(client, asset, query=query).status_code for query in ("", "?proof=press")] == [200, 200]
    assert len(placed) == times


def test_unknown_artwork_is_refused_where_it_is_named(client, card):
    asset = sent(client, document(pages=2))
    picture = BytesIO()
    Image.new("RGB", (60, 40), "teal").save(picture, "PNG")
    image = client.post(PATH, picture.getvalue(), content_type="image/png").json()

    assert fault(check(client, {"AssetID": "nothing"})) == ("/AssetID", "unknown_asset")
    assert fault(check(client, image)) == ("/AssetID", "asset_not_document")
    assert fault(check(client, asset, FirstPage=3)) == ("/FirstPage", "page_unknown")


def test_product_record_says_that_it_takes_artwork(client, card, shop):
    make_product(shop.store, "book", PageCount=201)

    records = [
        client.call("GET", f"/store/associated/product/{product_id}?verbose=true").json()
        for product_id in ("leaflet", "book")
    ]

    assert [record["TakesArtwork"] for record in records] == [True, False]


def test_order_prints_the_pdf_in_its_place(shop, client, card):
    marked = b"0 0 0 1 k 0 0 2000 2000 re f"
    asset = sent(client, document(content=marked, margin=9))
    item = {"ProductID": "leaflet", "Quantity": 100, "Artwork": {"AssetID": asset["AssetID"]}}
    quote = client.call("POST", "/store/associated/quote", {"Items": [item], "ShipTo": {"CountryCode": "US"}})
    assert quote.status_code == 201, quote.content

    placed = shop.place(body=order_body(Items=[item]))

    assert placed.status_code == 201, placed.content
    [line] = placed.json()["Items"]
    assert (line["Artwork"], line["TemplateData"], line["Preflight"]) == (
        {"AssetID": asset["AssetID"]},
        None,
        [],
    )
    with default_storage.open(OrderItem.objects.get().print_file) as file, pikepdf.open(file) as printed:
        assert len(printed.pages) == 1
        left, bottom, right, top = (float(side) / MM for side in printed.pages[0].trimbox)
        assert (right - left, top - bottom) == pytest.approx((88.9, 50.8), abs=0.01)
        assert "/GTS_PDFXVersion" in printed.docinfo or b"PDF/X-4" in printed.Root.Metadata.read_bytes()


def test_order_of_a_pdf_with_errors_is_refused_with_the_findings_of_its_proof(shop, client, card):
    asset = sent(client, document(bleed=0))
    proof = check(client, asset).json()

    item = {"ProductID": "leaflet", "Quantity": 100, "Artwork": {"AssetID": asset["AssetID"]}}
    placed = shop.place(body=order_body(Items=[item]))

    assert placed.status_code == 400
    assert placed.json()["Code"] == "preflight_failed"
    assert placed.json()["Preflight"] == proof["Preflight"]


@pytest.mark.parametrize("content", [document(bleed=0, margin=8), document(bleed=0, margin=8, pages=2)])
def test_pdf_that_preflight_cannot_draw_in_its_time_is_refused(shop, client, card, monkeypatch, content):
    """Without its picture nothing said that it has ink at the trim and no bleed."""
    limits = []

    def draw(template, *, ppi, seconds):
        limits.append(seconds)
        raise RenderingTimedOut

    monkeypatch.setattr(background_pixels, "render_backgrounds", draw)
    monkeypatch.setattr(order_prints, "SECONDS", 5.0)
    asset = sent(client, content)
    item = {"ProductID": "leaflet", "Quantity": 100, "Artwork": {"AssetID": asset["AssetID"]}}

    placed, quoted, proof = (
        shop.place(body=order_body(Items=[item])),
        quote(client, item),
        check(client, asset),
    )

    for response in (placed, quoted, proof):
        assert (response.status_code, response.json()["Code"]) == (400, "rendering_too_slow")
    assert 0 < limits[0] < 5
    assert len(limits) == 3


def quote(client, *items):
    body = {"Items": items, "ShipTo": {"CountryCode": "US"}}
    return client.call("POST", "/store/associated/quote", body, HTTP_IDEMPOTENCY_KEY=f"{items}"[:200])


def test_quote_of_a_pdf_has_the_findings_of_its_proof(client, card):
    good, long = (sent(client, content) for content in (document(), document(pages=3)))
    items = [
        {"ItemKey": key, "ProductID": "leaflet", "Quantity": 100, "Artwork": {"AssetID": one["AssetID"]}}
        for key, one in {"good": good, "long": long, "again": long}.items()
    ]

    response = quote(client, *items)

    assert response.status_code == 201, response.content
    [finding] = check(client, long).json()["Preflight"]
    assert finding["Code"] == "artwork_pages_ignored"
    assert response.json()["Preflight"] == [{"ItemKey": key, **finding} for key in ("long", "again")]
    quote_read = client.call("GET", f"/store/associated/quote/{response.json()['QuoteID']}").json()
    assert quote_read == response.json()


def test_quote_of_a_pdf_with_errors_is_refused_as_its_order_is(shop, client, card):
    asset = sent(client, document(bleed=0))
    item = {"ProductID": "leaflet", "Quantity": 100, "Artwork": {"AssetID": asset["AssetID"]}}

    refused, placed = quote(client, item), shop.place(body=order_body(Items=[item]))

    assert refused.status_code == 400
    assert refused.json()["Code"] == "preflight_failed"
    same = ("Code", "detail", "Errors", "Preflight")
    assert {key: refused.json()[key] for key in same} == {key: placed.json()[key] for key in same}
    assert not Quote.objects.exists()


def test_quote_without_a_pdf_says_nothing_of_preflight(client, card):
    response = quote(client, {"ProductID": "leaflet", "Quantity": 100})

    assert "Preflight" not in response.json()


def test_ink_that_multiplies_is_the_same_finding_in_proofs_and_order(shop, client, card):
    state = pikepdf.Dictionary(GS=pikepdf.Dictionary(BM=pikepdf.Name.Multiply))
    content = b"1 1 0 0 k 0 0 400 400 re f /GS gs 0 0 1 1 k 90 40 100 60 re f"
    asset = sent(client, document(content=content, Resources=pikepdf.Dictionary(ExtGState=state)))
    address = f"/store/associated/product/{card.external_id}/artwork?proof="

    screen, press = (
        client.call("POST", address + kind, {"AssetID": asset["AssetID"]}).json()["Preflight"]
        for kind in ("screen", "press")
    )
    item = {"ProductID": "leaflet", "Quantity": 100, "Artwork": {"AssetID": asset["AssetID"]}}
    placed = shop.place(body=order_body(Items=[item]))

    assert [(finding["Code"], finding["Severity"]) for finding in screen] == [("total_ink_high", "Error")]
    assert placed.status_code == 400
    assert screen == press == placed.json()["Preflight"]


def test_quote_and_order_name_the_faults_of_artwork(shop, client, card):
    item = {"ProductID": "leaflet", "Quantity": 100, "Artwork": {"AssetID": "nothing"}}
    quote = client.call("POST", "/store/associated/quote", {"Items": [item], "ShipTo": {"CountryCode": "US"}})
    both = {**item, "TemplateData": {"Name": "Ada"}}

    assert fault(quote) == ("/Items/0/Artwork/AssetID", "unknown_asset")
    assert fault(shop.place(body=order_body(Items=[item]))) == ("/Items/0/Artwork/AssetID", "unknown_asset")
    assert fault(shop.place(body=order_body(Items=[both]))) == ("/Items/0/Artwork", "artwork_or_data")


def test_equal_pdfs_share_a_file_until_the_last_upload_is_removed(client, settings, documents):
    content = document()
    first, second = (sent(client, content) for _ in range(2))
    assert len(documents()) == 1
    long_ago = timezone.now() - timedelta(days=settings.ASSET_RETENTION_DAYS + 1)

    Asset.objects.filter(pk=first["AssetID"]).update(last_used=long_ago)
    call_command("prune", verbosity=0)
    assert (Asset.objects.count(), len(documents())) == (1, 1)

    Asset.objects.filter(pk=second["AssetID"]).update(last_used=long_ago)
    call_command("prune", verbosity=0)
    assert (Asset.objects.count(), len(documents())) == (0, 0)


def test_pdfs_are_counted_against_the_storage_of_the_caller(client, settings):
    size = Asset.objects.get(pk=sent(client, document())["AssetID"]).size
    settings.DOCUMENT_STORAGE_MB = size * 2 / 1_000_000
    sent(client, document())

    full = send(client, document())

    assert (full.status_code, full.json()["Code"]) == (409, "asset_storage_full")
    assert full.json()["detail"].endswith("last use. Ordered ones stay.")
    assert Asset.objects.count() == 2


def test_erased_order_takes_its_pdf_and_proof_with_it(shop, client, card, documents):
    asset = sent(client, document())
    check(client, asset)
    item = {"ProductID": "leaflet", "Quantity": 100, "Artwork": {"AssetID": asset["AssetID"].upper()}}
    assert shop.place(body=order_body(Items=[item])).status_code == 201
    assert (Proof.objects.count(), len(documents())) == (1, 1)

    order = Order.objects.get()
    Order.objects.update(status=OrderStatus.CANCELLED)
    Asset.objects.update(last_used=order.created)

    with TestCase.captureOnCommitCallbacks(execute=True):
        erase_recipient(order=Order.objects.get(), actor=Actor(ActorKind.OPERATOR))

    assert (Proof.objects.count(), documents(), OrderItem.objects.get().artwork) == (0, [], None)
