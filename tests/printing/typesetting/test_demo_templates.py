import io
from pathlib import Path

import pypdf
import pytest
from PIL import Image, ImageChops, ImageStat

from printing.typesetting import (
    load_fields,
    load_sample,
    load_template_folder,
    parse_template,
    render_print,
    render_proof,
    resolve_values,
)
from printing.typesetting.fields import TYPES
from stores.demo import demo_catalog
from tests.support.printing.made_templates import DEMO

GOLDEN = Path(__file__).parent / "golden"
SIZES = {
    "banner-2x6ft": (24, 72, 1),
    "booklet-8-page-5.5x8.5": (5.5, 8.5, 8),
    "business-card-square": (2.5, 2.5, 2),
    "business-card-standard": (3.5, 2, 2),
    "eddm-mailer-6.5x9": (9, 6.5, 2),
    "eddm-mailer-8.5x11": (11, 8.5, 2),
    "envelope-10": (9.5, 4.125, 1),
    "flyer-8.5x11": (8.5, 11, 1),
    "letterhead-8.5x11": (8.5, 11, 1),
    "mug-wrap-11oz": (8.5, 3.5, 1),
    "photo-postcard-6x9": (9, 6, 2),
    "postcard-4x6": (6, 4, 2),
    "postcard-5x7": (7, 5, 2),
    "sticker-round-3in": (3, 3, 1),
}

# A page of a proof has at most 16 million pixels.
PPI = {"banner-2x6ft": (16_000_000 / (24 * 72)) ** 0.5}


def load(name):
    fields = load_fields(DEMO / name)
    template = parse_template(load_template_folder(DEMO / name), fields)
    return template, fields, resolve_values(fields, load_sample(DEMO / name), template.gallery)


def pictures(name, fields, values):
    """What a customer sends for fields of SubType Upload, by the name of the field."""
    sent = [field.field_name for field in fields if field.sub_type == "Upload"]
    folder = DEMO / name / "pictures"
    return {field: (folder / values[field]).read_bytes() for field in sent if values.get(field)}


def test_every_demo_template_is_listed():
    assert sorted(path.name for path in DEMO.iterdir()) == sorted(SIZES)


@pytest.mark.parametrize("name", sorted(SIZES))
def test_demo_template_belongs_to_a_product_of_its_size_that_can_be_bought(name):
    width, height, count = SIZES[name]
    products = {
        product["ID"]: product
        for store in demo_catalog()["Stores"]
        for product in store["Products"]
        if store["StoreID"] == "demo"
    }

    product = products[name]
    assert product["IsActive"]
    assert len(product["Template"]["Pages"]) == product["PageCount"] == count
    assert (product["WidthMM"], product["HeightMM"]) == (
        pytest.approx(width * 25.4),
        pytest.approx(height * 25.4),
    )
    assert product["DeliveredPrices"]
    assert product["ProductionSpeeds"]


def fonts_of(page):
    """What the description of each font holds."""
    fonts = [font.get_object() for font in page["/Resources"].get("/Font", {}).values()]
    return [set(font["/DescendantFonts"][0].get_object()["/FontDescriptor"].keys()) for font in fonts]


@pytest.mark.parametrize("name", sorted(SIZES))
def test_demo_template_prints_its_sample(name):
    template, fields, values = load(name)
    width, height, count = SIZES[name]

    printed = render_print(template, values, pictures(name, fields, values))
    pages = pypdf.PdfReader(io.BytesIO(printed.pdf), strict=True).pages
    text = "".join("".join(page.extract_text() for page in pages).split())
    assert printed.messages == ()
    assert len(pages) == count
    trims = {(round(page.trimbox.width / 72, 3), round(page.trimbox.height / 72, 3)) for page in pages}
    assert trims == {(width, height)}
    bleeds = [round((page.bleedbox.width - page.trimbox.width) / 2 / 72 * 25.4, 2) for page in pages]
    assert bleeds == [pytest.approx(page.bleed, abs=0.01) for page in template.pages]
    fonts = [font for page in pages for font in fonts_of(page)]
    assert fonts
    assert [font for font in fonts if not font & {"/FontFile2", "/FontFile3"}] == []
    assert all(field.sub_type in TYPES[field.type] for field in fields)
    # Code fields are drawn, not written; spaced letters come out of the PDF with spaces.
    shown = {
        box.field
        for page in template.pages
        for box in page.boxes
        if box.kind == "Text" and box.field and box.tracking < 0.05
    }
    assert [field for field in shown if "".join(values[field].split()) not in text] == []


@pytest.mark.parametrize("name", sorted(SIZES))
def test_demo_template_prints_with_its_required_fields_alone(name):
    template, fields, values = load(name)
    sent = {field.field_name: values[field.field_name] for field in fields if field.required}

    resolved = resolve_values(fields, sent, template.gallery)
    assert render_print(template, resolved, pictures(name, fields, resolved)).messages == ()


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SIZES))
def test_demo_template_looks_as_reviewed(name):
    """Who changes a design looks at it, and then replaces its pictures in `golden`."""
    template, fields, values = load(name)
    pages = render_proof(template, values, pictures(name, fields, values)).pages
    assert len(pages) == len(list(GOLDEN.glob(f"{name}-[0-9].png")))

    for number, page in enumerate(pages, 1):
        golden = Image.open(GOLDEN / f"{name}-{number}.png").convert("RGB")
        whole = Image.open(io.BytesIO(page)).convert("RGB")
        assert whole.size == pytest.approx([side * PPI.get(name, 144) for side in SIZES[name][:2]], abs=1)
        drawn = whole.resize(golden.size, Image.Resampling.BOX)
        difference = ImageStat.Stat(ImageChops.difference(golden, drawn))
        # Another machine's rounding moves edges by a little; a moved letter adds far more.
        assert max(difference.mean) < 1.0
        assert max(difference.rms) < 6.0
