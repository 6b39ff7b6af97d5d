"""The template editor as a browser without JavaScript uses it: every button sends the whole form."""

import base64
import re
from html.parser import HTMLParser
from io import BytesIO

import orjson
import pikepdf
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from PIL import Image

from printing.typesetting import Artwork
from stores.catalog.models import ArtworkUpload, Product
from stores.catalog.selectors.products import stored_product
from stores.catalog.services.products import save_product
from stores.editor.services.previews import explain_shape, has_shape_of
from stores.presets.models import PrintPreset
from tests.factories.accounts import OperatorFactory
from tests.factories.presets import PrintPresetFactory
from tests.factories.stores import make_store
from tests.factories.templates import field, make_card, make_demo_product, page, text_box
from tests.support.catalog.renderings import assert_renderings_fresh
from tests.support.printing.pdfx_rules import faults

pytestmark = pytest.mark.django_db

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 94.9 56.8"><rect width="9" height="9"/></svg>'
OUT_OF_RANGE = ["page:9", "page:x", "remove-page", "box-up:0", "box-down:77", "remove-box:-1", "no"]
NOT_WHOLE = [
    "",
    "[]",
    "{}",
    '{"Pages": [1], "Artwork": {}, "Gallery": {}}',
    '{"Pages": [], "Artwork": {}, "Gallery": {}}',
    '{"Pages": [{"Background": {"a": 1}}], "Artwork": {}, "Gallery": {}}',
    '{"Pages": [{"Boxes": [{"Kind": {"a": 1}}]}], "Artwork": {}, "Gallery": {}}',
    '{"Pages": [{"Boxes": [{"Kind": "Text", "Field": [1]}]}], "Artwork": {}, "Gallery": {}}',
    # A page of the editor would hold the inputs of each.
    f'{{"Pages": [{{"Boxes": [{",".join(["{}"] * 121)}]}}], "Artwork": {{}}, "Gallery": {{}}}}',
    f'{{"Pages": [{",".join(["{}"] * 65)}], "Artwork": {{}}, "Gallery": {{}}}}',
]


class Inputs(HTMLParser):
    """What a browser would send of a form: names and values of its inputs, without its buttons."""

    def __init__(self, content):
        super().__init__()
        self.values, self.select, self.area = {}, None, None
        self.feed(content)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag == "input" and values.get("name") and values.get("type") != "file":
            if values.get("type") != "checkbox" or "checked" in values:
                self.values[values["name"]] = values.get("value") or ""
        elif tag == "select":
            self.select = values["name"]
        elif tag == "option" and (self.select not in self.values or "selected" in values):
            self.option, self.chosen = "", values.get("value")
            self.values[self.select] = values.get("value") or ""
            self.text_of_option = "value" not in values
        elif tag == "textarea":
            self.area = values["name"]
            self.values[self.area] = ""

    def handle_data(self, data):
        if self.area:
            self.values[self.area] += data
        elif self.select and getattr(self, "text_of_option", False):
            self.values[self.select] = data
            self.text_of_option = False

    def handle_endtag(self, tag):
        if tag == "select":
            self.select = None
        elif tag == "textarea":
            self.area = None
        elif tag == "option":
            self.text_of_option = False


@pytest.fixture
def editor(client):
    client.force_login(OperatorFactory())

    class Editor:
        product = make_card(make_store(), TemplateFields=[field("Name", Required=True), field("Title")])

        def address(self, name="template"):
            return reverse(f"admin:stores_product_{name}", args=[self.product.pk])

        def open(self):
            return inputs(client.get(self.address()))

        def press(self, form, button, name="template", **changes):
            return client.post(self.address(name), {**form, **changes, "do": button})

        def preview(self, form, **changes):
            return client.post(self.address("template_preview"), {**form, **changes}).json()

    return Editor()


def inputs(response):
    return Inputs(response.content.decode()).values


def draft_of(response):
    return orjson.loads(inputs(response)["draft"])


def boxes_of(product):
    return Product.objects.get(pk=product.pk).template["Pages"][0]["Boxes"]


def test_page_leaves_its_picture_to_another_address(client, editor):
    page = client.get(editor.address()).content.decode()
    [address] = re.findall(r'id="te-picture" src="([^"]+)"', page)

    assert "data:image" not in page
    picture = client.get(address)
    assert picture["Content-Type"] == "image/png"
    assert Image.open(BytesIO(picture.content)).width == 900


def test_saving_is_a_new_version_by_the_service_of_the_catalog(editor):
    form = editor.open()

    response = editor.press(form, "save", **{"box-0-X": "7.5", "box-0-Weight": "700", "box-0-Italic": "on"})

    assert (response.status_code, response["Location"]) == (302, editor.address())
    changed = Product.objects.get()
    assert changed.version == 2
    assert changed.template["Pages"][0]["Boxes"][0] == {
        **text_box("Name"),
        "X": 7.5,
        "Weight": 700,
        "Italic": True,
    }
    assert_renderings_fresh()


def test_saving_without_a_change_makes_no_version(editor):
    before = Product.objects.values().get()

    editor.press(editor.open(), "save")

    assert Product.objects.values().get() == before


@pytest.mark.parametrize(
    "name", ["postcard-5x7", "eddm-mailer-8.5x11", "booklet-8-page-5.5x8.5", "sticker-round-3in"]
)
def test_designed_templates_come_back_the_same_through_the_form(editor, name):
    editor.product = make_demo_product(editor.product.store, name)
    before = editor.product.template

    form = editor.open()
    for number in range(len(before["Pages"])):
        form = inputs(editor.press(form, f"page:{number}"))
    editor.press(form, "save")

    editor.product.refresh_from_db()
    assert editor.product.template == before


def test_faults_are_reported_at_their_field_with_their_path(editor):
    response = editor.press(editor.open(), "save", **{"box-0-Size": "large", "box-0-Width": "0.1"})
    content = response.content.decode()

    assert (response.status_code, Product.objects.get().version) == (422, 1)
    for path, said in (
        ("Size", "Size must be a number from 3 to 1000."),
        ("Width", "Width must be a number from 0.5"),
    ):
        assert re.search(rf"Page 1, box [^<:]+: {path.lower()}[^<]*<[^>]*>\s*{re.escape(said)}", content), (
            path
        )
    assert 'name="box-0-Size" value="large"' in content
    assert 'aria-describedby="box-0-Size-error"' in content


@pytest.mark.parametrize("button", ["add-page", "save"])
def test_faults_are_reported_of_numbers_of_many_digits(editor, button):
    response = editor.press(editor.open(), button, **{"box-0-Size": "9" * 30})

    assert "Size must be a number from 3 to 1000." in response.content.decode()


def test_preview_shows_the_rest_of_a_page_with_faults(editor):
    form = editor.open()

    preview = editor.preview(form, **{"box-0-Size": "large"})
    fine = editor.preview(form, **{"sample:Name": "Ada", "pixels": "400"})

    assert [fault["pointer"] for fault in preview["faults"]] == ["/Pages/0/Boxes/0/Size"]
    assert preview["picture"].startswith("data:image/png;base64,")
    picture = base64.b64decode(fine["picture"].partition(",")[2])
    assert int.from_bytes(picture[16:20], "big") == 400
    assert fine["faults"] == []


def test_numbers_too_long_to_be_one_are_passed_by(editor):
    preview = editor.preview(editor.open(), pixels="9" * 5000)

    assert preview["picture"].startswith("data:image/png;base64,")


def test_sample_data_is_checked_as_a_customers_would_be(editor):
    preview = editor.preview(editor.open(), **{"sample:Name": " ", "sample:Title": "W" * 400})

    assert {fault["pointer"] for fault in preview["faults"]} == {"/Samples/Name"}
    shown = editor.preview(editor.open(), **{"box-0-Width": "3", "sample:Name": "A long name"})
    assert shown["faults"][0]["message"] == "Name does not fit its box, even at the smallest size."


def test_pages_and_boxes_are_added_moved_and_removed(editor):
    form = editor.open()
    form = inputs(editor.press(form, "add-box:QRCode", **{"box-0-X": "9"}))
    assert (form["box-0-X"], form["box-1-Kind"], form["box-1-Source"]) == ("9", "QRCode", "Title")

    form = inputs(editor.press(form, "box-up:1"))
    assert (form["box-0-Kind"], form["box-1-X"]) == ("QRCode", "9")
    form = inputs(editor.press(form, "copy-box:1"))
    assert form["box-2-X"] == "12"
    form = inputs(editor.press(form, "remove-box:0"))
    assert "box-2-Kind" not in form
    form = inputs(editor.press(form, "add-page"))
    assert (form["page"], form["page-WidthMM"]) == ("1", "88.9")
    form = inputs(editor.press(form, "page-earlier"))
    assert form["page"] == "0"
    response = editor.press(form, "save")
    assert response.status_code == 302
    product = Product.objects.get()
    assert [len(page["Boxes"]) for page in product.template["Pages"]] == [0, 2]
    assert product.page_count == 2


@pytest.mark.parametrize("button", OUT_OF_RANGE)
def test_index_out_of_range_changes_nothing(editor, button):
    form = editor.open()

    assert draft_of(editor.press(form, button)) == orjson.loads(form["draft"])


def test_background_is_uploaded_shown_and_saved(editor):
    file = SimpleUploadedFile("front.svg", SVG)

    response = editor.press(editor.open(), "upload", file=file, use="background")
    form = inputs(response)

    assert form["page-Background"] == "front.svg"
    assert (ArtworkUpload.objects.get().name, Product.objects.get().version) == ("front.svg", 1)
    editor.press(form, "save")
    assert Product.objects.get().template["Artwork"] == {
        "front.svg": {"MediaType": "image/svg+xml", "Data": SVG.decode()}
    }


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("bad.svg", b"<svg></svg>", "needs a viewBox"),
        ("bad.svg", b'<svg viewBox="0 0 9 9"><script/></svg>', "The element script is not allowed."),
        ("bad.exe", b"MZ", "MediaType must be one of"),
        ("bad.png", b"no picture", "not a readable PNG"),
    ],
)
def test_upload_that_cannot_be_used_is_refused(editor, name, content, said):
    response = editor.press(editor.open(), "upload", file=SimpleUploadedFile(name, content))

    assert response.status_code == 422
    assert said in response.content.decode()
    assert not ArtworkUpload.objects.exists()


def test_second_editor_is_informed_and_loses_nothing(editor):
    first, second = editor.open(), editor.open()
    editor.press(first, "save", **{"box-0-X": "11"})

    response = editor.press(second, "save", **{"box-0-Y": "22"})
    content = response.content.decode()

    assert "Another user saved version 2 of this product; you began with version 1." in content.replace(
        "&#x27;", "'"
    )
    assert (boxes_of(editor.product)[0]["X"], boxes_of(editor.product)[0]["Y"]) == (11, 5)
    mine = inputs(response)
    assert (mine["box-0-Y"], mine["version"]) == ("22", "1")
    editor.press(mine, "save-over")
    assert (boxes_of(editor.product)[0]["X"], boxes_of(editor.product)[0]["Y"]) == (5, 22)
    assert Product.objects.get().version == 3


def test_change_of_the_product_itself_is_an_edit_conflict(editor):
    form = editor.open()
    record = stored_product(editor.product.pk).record
    save_product(store=editor.product.store, product=editor.product, values={**record, "Name": "Renamed"})

    assert "Another user saved version 2" in editor.press(form, "save", **{"box-0-X": "1"}).content.decode()
    assert Product.objects.get().name == "Renamed"


def test_artwork_that_is_gone_is_reported(editor):
    form = editor.open()
    draft = {**orjson.loads(form["draft"]), "Artwork": {"front.svg": "0" * 64}}

    response = editor.press(form, "save", draft=orjson.dumps(draft).decode())

    assert "front.svg is no longer there; upload it again." in response.content.decode()


@pytest.mark.parametrize("name", ["template_proof", "template_print"])
def test_proof_and_print_file_are_of_what_is_in_the_form(editor, name):
    form = editor.open()

    pdf = editor.press(form, "", name, **{"box-0-Source": "", "box-0-Text": "Fixed"})
    assert (pdf["Content-Type"], pdf.content[:5]) == ("application/pdf", b"%PDF-")
    refused = editor.press(form, "", name, **{"sample:Name": ""})
    assert (refused.status_code, "Name is required." in refused.content.decode()) == (422, True)


def test_print_file_keeps_the_preset_of_the_product(editor):
    PrintPresetFactory(code="coated", policy="CMYK", marks=False)
    Product.objects.filter(pk=editor.product.pk).update(preset=PrintPreset.objects.get())

    printed = editor.press(editor.open(), "", "template_print").content

    assert faults(printed) == []
    with pikepdf.open(BytesIO(printed)) as pdf:
        assert pdf.pages[0].mediabox == pdf.pages[0].obj.BleedBox
        assert b" k" in pdf.pages[0].obj.Contents.read_bytes()


@pytest.mark.parametrize("draft", NOT_WHOLE)
def test_form_that_is_not_whole_is_a_bad_request(editor, draft):
    assert editor.press(editor.open(), "save", draft=draft).status_code == 400


def test_product_without_a_template_begins_with_an_empty_page(editor):
    editor.product = make_card(editor.product.store, "plain", Template=None)

    form = inputs(editor.press(editor.open(), "add-box:Text"))
    editor.press(form, "save")

    assert boxes_of(editor.product) == [
        {"Kind": "Text", "Field": "Name", "X": 5, "Y": 5, "Width": 40, "Height": 8, "Size": 10}
    ]


def test_colors_are_written_as_inks_too(editor):
    editor.press(editor.open(), "save", **{"box-0-Color": "0 20 100 5.5"})

    assert boxes_of(editor.product)[0]["Color"] == {"C": 0, "M": 20, "Y": 100, "K": 5.5}
    assert editor.open()["box-0-Color"] == "0 20 100 5.5"

    editor.press(editor.open(), "save", **{"box-0-Color": "0 100 0 0 Cut Contour"})

    assert boxes_of(editor.product)[0]["Color"] == {"C": 0, "M": 100, "Y": 0, "K": 0, "Spot": "Cut Contour"}
    assert editor.open()["box-0-Color"] == "0 100 0 0 Cut Contour"


def test_step_of_the_editor_takes_few_queries(editor, django_assert_max_num_queries):
    form = editor.open()

    with django_assert_max_num_queries(6):
        editor.preview(form)
    with django_assert_max_num_queries(12):
        editor.press(form, "add-page")


def test_pages_beyond_the_open_one_are_checked_as_well(editor):
    both = {"Pages": [page(text_box("Name")), page(text_box("Gone"))], "Artwork": {}, "Gallery": {}}

    preview = editor.preview(editor.open(), draft=orjson.dumps(both).decode())

    assert [fault["pointer"] for fault in preview["faults"]] == ["/Pages/1/Boxes/0/Field"]
    assert preview["picture"]


def photo(width, height):
    out = BytesIO()
    Image.new("RGB", (width, height), "#225588").save(out, "PNG")
    return SimpleUploadedFile("photo.png", out.getvalue(), "image/png")


@pytest.mark.parametrize(("how", "name"), [("crop-background", "cropped"), ("fit-background", "fitted")])
@pytest.mark.parametrize("size", [(400, 300), (100, 300)])
def test_background_of_another_shape_can_be_made_to_fit(editor, how, name, size):
    form = editor.open()
    before = draft_of_form(form)["Pages"][0].get("Background")

    waiting = editor.press(form, "upload", use="background", file=photo(*size))

    assert waiting.status_code == 422
    assert "which is another shape" in waiting.content.decode()
    assert draft_of(waiting)["Pages"][0].get("Background") == before
    assert waiting.context["picture"]
    shaped = editor.press(inputs(waiting), how)
    assert (shaped.status_code, shaped.context["editor"]["faults"]) == (200, [])
    assert draft_of(shaped)["Pages"][0]["Background"] == f"photo-{name}.png"
    assert editor.press(inputs(shaped), "save").status_code == 302


@pytest.mark.parametrize(
    "wrong", [0, -5, 1e308, pytest.param(10**400, id="long"), "1e999", "nan", None, [], "wide"]
)
def test_page_of_an_impossible_size_has_no_shape(wrong):
    artwork = Artwork("photo.png", "image/png", b"", "", 400, 300)

    assert not has_shape_of(artwork, {"WidthMM": 1e-300, "HeightMM": wrong})
    assert explain_shape(artwork, {"WidthMM": wrong, "HeightMM": 50}) == ""


def test_background_that_margins_would_make_too_large_is_refused(editor):
    """2 x 9,000 pixels on a card would have become 125 megapixels, in the web process."""
    waiting = editor.press(editor.open(), "upload", use="background", file=photo(2, 9_000))

    refused = editor.press(inputs(waiting), "fit-background")

    assert refused.status_code == 422
    assert "at most 50,000,000 are allowed" in refused.content.decode()


def test_upload_is_a_picture_unless_it_has_the_shape_of_the_page(editor):
    form = editor.open()
    page = draft_of_form(form)["Pages"][0]
    bleed = 2 * page.get("BleedMM", 0)
    fitting = (round(10 * (page["WidthMM"] + bleed)), round(10 * (page["HeightMM"] + bleed)))

    square, same = (editor.press(form, "upload", file=photo(*size)) for size in ((300, 300), fitting))

    assert "photo" in draft_of(square)["Gallery"]
    assert draft_of(square)["Pages"][0].get("Background") == page.get("Background")
    assert draft_of(same)["Pages"][0]["Background"] == "photo.png"


def test_page_whose_background_has_another_shape_keeps_its_picture(editor):
    form = editor.open()
    page = draft_of_form(form)["Pages"][0]
    bleed = 2 * page.get("BleedMM", 0)
    fitting = (round(10 * (page["WidthMM"] + bleed)), round(10 * (page["HeightMM"] + bleed)))
    form = inputs(editor.press(form, "upload", file=photo(*fitting)))

    preview = editor.preview({**form, "page-HeightMM": "200"})

    assert preview["picture"]
    assert [fault["place"] for fault in preview["faults"]] == ["Page 1: background"]


def test_faults_name_their_place_as_the_page_does(editor):
    preview = editor.preview({**editor.open(), "box-0-Width": "wide"})

    assert preview["faults"][0]["place"] == "Page 1, box Name: width"


def draft_of_form(form):
    return orjson.loads(form["draft"])


def test_field_added_in_the_editor_is_saved_with_the_template(editor):
    new = {"new-field-name": "Slogan", "new-field-type": "Text:MultiLine"}

    form = inputs(editor.press(editor.open(), "add-field", **new))
    assert form["sample:Slogan"] == "Slogan"
    assert Product.objects.get().version == 1
    editor.press(form, "save", **{"box-0-Source": "Slogan"})

    fields = stored_product(editor.product.pk).record["TemplateFields"]
    assert [field["FieldName"] for field in fields] == ["Name", "Title", "Slogan"]
    assert boxes_of(editor.product)[0]["Field"] == "Slogan"


def test_hidden_boxes_are_checked_and_not_drawn(editor):
    form = editor.open()

    shown, hidden = (editor.preview(form, hidden=places) for places in ("", "0"))
    wrong = editor.preview(form, hidden="0", **{"box-0-Size": "huge"})

    assert shown["picture"] != hidden["picture"]
    assert [fault["pointer"] for fault in wrong["faults"]] == ["/Pages/0/Boxes/0/Size"]


def test_preview_with_its_bleed_is_wider_in_proportion(editor):
    preview = editor.preview(editor.open(), bleed="1", pixels="949")

    picture = base64.b64decode(preview["picture"].partition(",")[2])
    assert [int.from_bytes(picture[at : at + 4], "big") for at in (16, 20)] == [949, 568]
