from decimal import Decimal
from io import BytesIO

import pytest
from PIL import Image
from pypdf import PdfReader

from accounts.models import Role
from printing.typesetting import load_sample
from stores.catalog.models import Product
from stores.catalog.selectors.products import stored_product
from stores.catalog.services.products import archive_product, save_product
from stores.catalog.services.refresh import refresh_renderings
from stores.proofs.models import Proof
from stores.proofs.services import proofs
from tests.factories.presets import PrintPresetFactory
from tests.factories.templates import TEMPLATES, field, make_card, make_demo_product, page, text_box

PATH = "/store/associated/product/card/proof"


@pytest.fixture
def client(world):
    return world.as_application()


def fetch(client, url):
    response = client.get(url.removeprefix("http://127.0.0.1:8000"))
    assert response.status_code == 200
    return b"".join(response.streaming_content)


def picture(size=(60, 40), color="teal"):
    out = BytesIO()
    Image.new("RGB", size, color).save(out, "PNG")
    return out.getvalue()


def faults(response):
    assert response.status_code == 400, response.content
    return {fault["Pointer"]: fault["Code"] for fault in response.json()["Errors"]}


def test_two_sided_proof_shows_what_was_sent(world, client):
    make_demo_product(world.associated, "business-card-standard")
    values = {
        "Name": "Ada Lovelace",
        "Title": "Analyst",
        "Email": "ada@engine.example",
        "Phone": "+1 555 0100",
    }

    response = client.call("POST", "/store/associated/product/business-card-standard/proof", values)

    assert response.status_code == 200, response.content
    proof = response.json()
    assert set(proof) == {"ProductID", "Side1URL", "Side2URL", "PdfURL", "PageURLs", "Preflight", "_meta"}
    assert proof["ProductID"] == "business-card-standard"
    assert [proof["Side1URL"], proof["Side2URL"]] == proof["PageURLs"]
    assert proof["_meta"] == {"Messages": []}
    pdf = PdfReader(BytesIO(fetch(client, proof["PdfURL"])))
    assert len(pdf.pages) == 2
    text = pdf.pages[0].extract_text()
    assert [value for value in values.values() if value not in text] == []
    sizes = {Image.open(BytesIO(fetch(client, url))).size for url in proof["PageURLs"]}
    assert sizes == {(504, 288)}


def test_one_page_proof_has_an_empty_second_side(world, client):
    make_card(world.associated)

    proof = client.call("POST", PATH, {"Name": "Ada"}).json()

    assert (proof["Side2URL"], proof["PageURLs"]) == ("", [proof["Side1URL"]])


def test_same_data_give_the_same_proof_and_addresses(world, client):
    make_card(world.associated, TemplateFields=[field("Name"), field("Title", DefaultValue="Dr.")])

    first = client.call("POST", PATH, {"Name": "Ada"}).json()
    again = client.call("POST", PATH, {"Title": "Dr.", "Name": "Ada"}).json()
    other_caller = world.as_user(world.user).call("POST", PATH, {"Name": "Ada", "Title": None}).json()
    other_data = client.call("POST", PATH, {"Name": "Ada "}).json()

    assert first == again == other_caller
    assert first["PdfURL"] != other_data["PdfURL"]
    assert Proof.objects.count() == 2


def test_new_version_and_other_mark_give_another_proof(world, client, settings):
    product = make_card(world.associated)
    urls = [client.call("POST", PATH, {"Name": "Ada"}).json()["PdfURL"]]
    record = stored_product(product.pk).record
    save_product(store=world.associated, product=product, values={**record, "Description": "Thicker"})
    urls.append(client.call("POST", PATH, {"Name": "Ada"}).json()["PdfURL"])
    for mark in ("", "DRAFT"):
        settings.PROOF_WATERMARK = mark
        urls.append(client.call("POST", PATH, {"Name": "Ada"}).json()["PdfURL"])

    assert len(set(urls)) == 4
    texts = [PdfReader(BytesIO(fetch(client, url))).pages[0].extract_text() for url in urls]
    marks = [{mark for mark in ("PROOF", "DRAFT") if mark in text} for text in texts]
    assert marks == [{"PROOF"}, {"PROOF"}, set(), {"DRAFT"}]


def test_rendering_again_gives_the_same_bytes(world, client):
    make_card(world.associated)
    proof = client.call("POST", PATH, {"Name": "Ada"}).json()
    files = [fetch(client, proof["PdfURL"]), fetch(client, proof["Side1URL"])]
    Proof.objects.all().delete()

    proof = client.call("POST", PATH, {"Name": "Ada"}).json()

    assert [fetch(client, proof["PdfURL"]), fetch(client, proof["Side1URL"])] == files


def test_answer_to_a_thousand_faults_is_no_longer_than_the_body(world, client):
    make_card(world.associated)
    names = {f"name-{number:05}": "" for number in range(10_000)}

    many = client.call("POST", PATH, names)
    too_many = client.call("POST", PATH, {f"name-{number:06}": "" for number in range(20_000)})

    assert (len(many.json()["Errors"]), many.json()["detail"]) == (100, "10001 values cannot be printed.")
    assert len(many.content) < 50_000
    assert faults(too_many) == {"": "too_large"}


def test_every_wrong_field_is_named(world, client):
    fields = [
        field("Name", Required=True),
        field("Mail", SubType="Email"),
        field("Paper", Type="Choice", SubType="List", Choices=["Matte", "Gloss"]),
        field("Born", SubType="Date"),
        field("Note"),
        field("Photo", Type="Image", SubType="Upload"),
    ]
    photo = {"Field": "Photo", "Kind": "Image", "X": 5, "Y": 20, "Width": 20, "Height": 20}
    make_card(world.associated, TemplateFields=fields, Template={"Pages": [page(text_box("Name"), photo)]})

    values = {"Mail": "nobody", "Paper": "Silk", "Born": "1815-13-10", "Note": 7}
    assert faults(client.call("POST", PATH, values)) == {
        "/Name": "required",
        "/Mail": "not_a_email",
        "/Paper": "not_a_choice",
        "/Born": "not_a_date",
        "/Note": "wrong_type",
    }
    assert faults(client.call("POST", PATH, {"Name": "Ada", "Nickname": "A"})) == {
        "/Nickname": "unknown_field"
    }
    for value in ("https://pictures.example/ada.png", "Garden", "8d5a6e0e-3a52-4b8c-9a35-2f1c9b7d4e10"):
        assert faults(client.call("POST", PATH, {"Name": "Ada", "Photo": value})) == {
            "/Photo": "unknown_asset"
        }


def test_text_that_cannot_be_printed_is_refused_by_field(world, client):
    make_card(world.associated)

    assert faults(client.call("POST", PATH, {"Name": "Ada " * 200})) == {"/Name": "does_not_fit"}
    assert faults(client.call("POST", PATH, {"Name": "Ada\u0007"})) == {"/Name": "control_character"}
    response = client.call("POST", PATH, {"Name": "\U00013080"})
    assert faults(response) == {"/Name": "character_not_printable"}
    assert "U+13080" in response.json()["detail"]


def test_more_than_200_kb_are_refused(world, client):
    make_card(world.associated)

    assert faults(client.call("POST", PATH, {"Name": "x" * 200_001})) == {"": "too_large"}
    assert client.call("POST", PATH, {"Name": "x" * 1_100_000}).status_code == 413


@pytest.mark.parametrize("body", [[], ["Ada"], "Ada", 7])
def test_body_must_be_an_object(world, client, body):
    make_card(world.associated)

    response = client.call("POST", PATH, body)

    assert (response.status_code, response.json()["Code"]) == (400, "not_an_object")


def test_product_without_template_is_a_conflict(world, client):
    make_card(world.associated, Template=None)

    response = client.call("POST", PATH, {"Name": "Ada"})

    assert (response.status_code, response.json()["Code"]) == (409, "template_missing")


def test_template_the_typesetter_does_not_take_is_a_conflict(world, client):
    product = make_card(world.associated)
    Product.objects.filter(pk=product.pk).update(template={"Pages": []})

    response = client.call("POST", PATH, {"Name": "Ada"})

    assert (response.status_code, response.json()["Code"]) == (409, "template_unusable")


def test_visibility_is_that_of_products(world):
    for store in (world.associated, world.demo):
        make_card(store)
    archive_product(product=make_card(world.associated, "old"))

    def answer(client, store, product="card"):
        response = client.call("POST", f"/store/{store}/product/{product}/proof", {"Name": "Ada"})
        return response.status_code, response.json().get("Code")

    for client in (world.as_application(), world.as_user(world.user), world.as_operator()):
        assert answer(client, "associated") == (200, None)
        assert answer(client, "associated", "none") == (404, "product_not_found")
        assert answer(client, "associated", "old") == (404, "product_not_found")
        assert answer(client, "nowhere") == (400, "store_invalid")
    for client in (world.as_application(world.other_application), world.as_user(world.outsider)):
        assert answer(client, "associated") == (403, "association_required")
        assert answer(client, "demo") == (200, None)


def test_association_is_checked_before_the_body(world):
    make_card(world.associated)
    client = world.as_application(world.other_application)

    response = client.generic("POST", f"/api/v1{PATH}", b"{nonsense", content_type="application/json")

    assert response.status_code == 403


def test_uploaded_picture_is_printed_with_a_word_about_its_resolution(world, client):
    photo = {
        "Field": "Photo",
        "Kind": "Image",
        "X": 5,
        "Y": 15,
        "Width": 50.8,
        "Height": 25.4,
        "Fit": "cover",
    }
    make_card(
        world.associated,
        TemplateFields=[field("Name"), field("Photo", Type="Image", SubType="Upload")],
        Template={"Pages": [page(text_box("Name"), photo)]},
    )
    asset_ids = [
        client.post("/api/v1/store/associated/asset", content, content_type="image/png").json()["AssetID"]
        for content in (picture(), picture(), picture((600, 300)))
    ]

    poor, same, good = (
        client.call("POST", PATH, {"Name": "Ada", "Photo": asset_id}).json() for asset_id in asset_ids
    )

    [message] = poor["_meta"]["Messages"]
    assert ("Photo" in message, "dpi" in message) == (True, True)
    assert poor == same
    assert good["_meta"]["Messages"] == []
    colors = Image.open(BytesIO(fetch(client, good["Side1URL"]))).convert("RGB").getcolors(100_000)
    assert (0, 128, 128) in {color for _, color in colors}


def test_repeated_proof_costs_few_queries(world, client, django_assert_num_queries):
    make_card(world.associated)
    client.call("POST", PATH, {"Name": "Ada"})

    with django_assert_num_queries(3) as queries:
        client.call("POST", PATH, {"Name": "Ada"})

    assert not any("UPDATE stores_proof" in query["sql"] for query in queries.captured_queries)


def test_proof_records_each_caller_who_requests_it(world, client):
    make_card(world.associated)
    Role.objects.create(application=world.other_application, store=world.associated, grant="Store.Self.Read")
    client.call("POST", PATH, {"Name": "Ada"})
    (first,) = Proof.objects.values_list("traces", flat=True)

    other = world.as_application(world.other_application)
    assert other.call("POST", PATH, {"Name": "Ada"}).status_code == 200

    (both,) = Proof.objects.values_list("traces", flat=True)
    assert set(first) < set(both)


def test_rendered_messages_stay_with_the_proof(world, client):
    make_card(world.associated, WidthMM=Decimal("88.9"))
    client.call("POST", PATH, {"Name": "Ada"})
    Proof.objects.update(messages=["Look at this."])
    refresh_renderings()

    assert client.call("POST", PATH, {"Name": "Ada"}).json()["_meta"] == {"Messages": ["Look at this."]}


def test_picture_of_the_gallery_is_chosen_by_its_name(world, client):
    make_demo_product(world.associated, "postcard-5x7")
    path = "/store/associated/product/postcard-5x7/proof"
    sample = load_sample(TEMPLATES / "postcard-5x7")

    garden, evening = (
        client.call("POST", path, {**sample, "Picture": name}).json()["Side1URL"]
        for name in ("Garden house", "Evening house")
    )

    assert fetch(client, garden) != fetch(client, evening)
    assert faults(client.call("POST", path, {**sample, "Picture": "Castle"})) == {
        "/Picture": "unknown_picture"
    }


def test_photos_that_were_sent_fill_the_photo_postcard(world, client):
    """The demo's design for pictures of customers, with the pictures that lie beside it."""
    make_demo_product(world.associated, "photo-postcard-6x9")
    path = "/store/associated/product/photo-postcard-6x9/proof"
    folder = TEMPLATES / "photo-postcard-6x9"
    sample = load_sample(folder)
    photos = {
        name: client.post(
            "/api/v1/store/associated/asset",
            (folder / "pictures" / sample[name]).read_bytes(),
            content_type="image/jpeg",
        ).json()["AssetID"]
        for name in ("Photo", "SecondPhoto")
    }

    made = client.call("POST", path, {**sample, **photos})
    plain = client.call("POST", path, {**sample, **photos, "SecondPhoto": ""})

    assert (made.status_code, made.json()["_meta"]["Messages"]) == (200, [])
    backs = [fetch(client, response.json()["Side2URL"]) for response in (made, plain)]
    colors = [len(Image.open(BytesIO(back)).convert("RGB").getcolors(1_000_000)) for back in backs]
    assert colors[0] > 10 * colors[1]
    assert faults(client.call("POST", path, {**sample, "SecondPhoto": photos["Photo"]})) == {
        "/Photo": "unknown_asset"
    }
    assert faults(client.call("POST", path, {**sample, **photos, "Photo": ""})) == {"/Photo": "required"}


def test_soft_proof_shows_the_colors_of_the_preset_and_is_kept_apart(world, client):
    PrintPresetFactory(code="coated", policy="CMYK")
    box = text_box("Name", Background="#00ff00", X=0, Y=0, Width=88, Height=50)
    make_card(world.associated, Preset="coated", Template={"Pages": [page(box)]})

    screen, printed, again = (
        client.call("POST", f"{PATH}{query}", {"Name": "Ada"}).json()
        for query in ("?proof=screen", "?proof=press", "?proof=press")
    )

    assert screen["Side1URL"] != printed["Side1URL"] == again["Side1URL"]
    shown = [
        Image.open(BytesIO(fetch(client, proof["Side1URL"]))).convert("RGB").getpixel((20, 200))
        for proof in (screen, printed)
    ]
    # No ink is as green as a screen.
    assert shown[0][1] > 245
    assert shown[1][1] < 200
    assert len(PdfReader(BytesIO(fetch(client, printed["PdfURL"]))).pages) == 1


def test_unknown_kind_of_proof_is_refused(world, client):
    make_card(world.associated)

    assert faults(client.call("POST", f"{PATH}?proof=paper", {"Name": "Ada"})) == {
        "?proof": "parameter_invalid"
    }


def test_new_proof_takes_few_statements_and_one_file_for_each_page(
    world, client, monkeypatch, django_assert_num_queries
):
    make_card(world.associated)
    client.call("POST", PATH, {"Name": "Ada"})
    written = []
    monkeypatch.setattr(proofs, "write_files", lambda files: written.extend(name for name, _ in files))

    # Credentials, product, the proof; a savepoint, its lock, the proof again, its row, the end of the savepoint.
    with django_assert_num_queries(8):
        client.call("POST", PATH, {"Name": "Grace"})

    assert [name.rpartition("/")[2] for name in written] == ["proof.pdf", "page-1.png"]
