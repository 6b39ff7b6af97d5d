from io import BytesIO
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from fontTools.ttLib import TTFont
from pypdf import PdfReader

from accounts.callers import Caller
from fulfillment.core.errors import Conflict, Invalid
from fulfillment.core.files.stored import read_file
from printing.typesetting import FontSet
from stores.catalog.services.products import archive_product
from stores.proofs.file_names import proof_files
from stores.proofs.selectors import product_version_of
from stores.proofs.services.proofs import make_proof
from stores.templates.models import Font
from stores.templates.selectors import font_set
from stores.templates.services import add_font, remove_font
from tests.factories.templates import make_card, page, text_box


@pytest.fixture(scope="module")
def font_bytes():
    """A shipped face under another name."""
    path = next(Path(path) for path in FontSet.shipped().paths if path.endswith("Lato-Regular.ttf"))
    font = TTFont(path)
    for record in font["name"].names:
        if record.nameID in {1, 16}:
            record.string = "Harbor Sans"
        elif record.nameID in {4, 6}:
            record.string = "HarborSans-Regular"
    out = BytesIO()
    font.save(out)
    return out.getvalue()


def card(store, **changes):
    return make_card(store, Template={"Pages": [page(text_box("Name", Font="Harbor Sans"))]}, **changes)


def test_operators_font_is_usable_in_templates_and_embedded(world, font_bytes):
    with pytest.raises(Invalid) as refusal:
        card(world.associated)
    assert [fault.pointer for fault in refusal.value.faults] == ["/Template/Pages/0/Boxes/0/Font"]

    font = add_font(file_name="harbor.ttf", content=font_bytes)
    product = product_version_of(card(world.associated).pk)
    proof = make_proof(caller=Caller(), product=product, values={"Name": "Ada"})

    assert (font.families, "Harbor Sans" in font_set().families) == (["Harbor Sans"], True)
    pdf = PdfReader(BytesIO(read_file(proof_files(proof.digest, 1)[0])))
    fonts = {str(font.get_object()["/BaseFont"]) for font in pdf.pages[0]["/Resources"]["/Font"].values()}
    assert any("HarborSans" in name for name in fonts)


def test_other_fonts_leave_proofs_as_they_are(world, font_bytes):
    product = make_card(world.associated)
    before = make_proof(caller=Caller(), product=product_version_of(product.pk), values={"Name": "Ada"})

    add_font(file_name="harbor.ttf", content=font_bytes)

    after = make_proof(caller=Caller(), product=product_version_of(product.pk), values={"Name": "Ada"})
    assert before.digest == after.digest


def test_invalid_or_known_font_is_refused(db, font_bytes):
    shipped = next(Path(path) for path in FontSet.shipped().paths if path.endswith("Lato-Regular.ttf"))
    add_font(file_name="harbor.ttf", content=font_bytes)

    def code(content):
        with pytest.raises(Invalid) as refusal:
            add_font(file_name="x.ttf", content=content)
        return refusal.value.faults[0].code

    assert code(b"<svg/>") == "not_a_font"
    assert code(font_bytes[:2000]) == "not_a_font"
    assert code(shipped.read_bytes()) == "family_taken"
    assert code(font_bytes) == "font_known"


@pytest.mark.parametrize("name", ["IBMPlexSansArabic-Bold.ttf", "NotoSansThai[wght].ttf"])
def test_font_that_would_replace_the_letters_of_a_script_is_refused(db, name):
    """Proofs and prints of every template would show it, and templates could not name it."""
    path = next(Path(path) for path in FontSet.shipped().paths if path.endswith(name))

    with pytest.raises(Invalid, match="comes with the service"):
        add_font(file_name=name, content=path.read_bytes())


def test_font_in_use_stays(world, font_bytes, stored_files, django_capture_on_commit_callbacks):
    font = add_font(file_name="harbor.ttf", content=font_bytes)
    product = card(world.associated)

    with pytest.raises(Conflict, match="card"):
        remove_font(font=font)

    product.delete()
    with django_capture_on_commit_callbacks(execute=True):
        remove_font(font=font)
    assert (Font.objects.count(), stored_files()) == (0, [])


def test_svg_is_drawn_in_a_font_that_is_added_later_and_then_stays(world, font_bytes):
    drawing = """<text x="5" y="20" font-size="8" style="font-family:'harbor sans'">Ada</text>"""
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 94.9 56.8">{drawing}</svg>'
    artwork = {"card.svg": {"MediaType": "image/svg+xml", "Data": svg}}
    record = {"Pages": [page() | {"Background": "card.svg"}], "Artwork": artwork}
    product = make_card(world.associated, Template=record, TemplateFields=[])
    before = make_proof(caller=Caller(), product=product_version_of(product.pk), values={})

    font = add_font(file_name="harbor.ttf", content=font_bytes)

    after = make_proof(caller=Caller(), product=product_version_of(product.pk), values={})
    assert before.digest != after.digest
    with pytest.raises(Conflict, match="card"):
        remove_font(font=font)


def test_product_whose_font_is_gone_can_still_be_archived(world, font_bytes):
    add_font(file_name="harbor.ttf", content=font_bytes)
    product = card(world.associated)
    Font.objects.all().delete()

    assert archive_product(product=product).is_active is False


def test_admin_takes_and_removes_fonts(world, client, font_bytes):
    client.force_login(world.operator)
    add = reverse("admin:stores_font_add")

    refused = client.post(add, {"file": SimpleUploadedFile("x.ttf", b"nonsense")})
    response = client.post(add, {"file": SimpleUploadedFile("harbor.ttf", font_bytes)})

    assert (refused.status_code, b"Only TrueType and OpenType" in refused.content) == (200, True)
    font = Font.objects.get()
    assert (response.status_code, font.file_name) == (302, "harbor.ttf")
    product = card(world.associated)
    remove = reverse("admin:stores_font_delete", args=[font.pk])
    kept = client.post(remove, {"post": "yes"}, follow=True)
    assert (Font.objects.count(), b"is used by the templates of card" in kept.content) == (1, True)
    product.delete()
    client.post(remove, {"post": "yes"})
    assert Font.objects.count() == 0
