"""Print files of the demo's templates, with the values that come with them."""

import random
from collections.abc import Sequence
from io import BytesIO

from PIL import Image

from printing.press.profiles import SHIPPED
from printing.typesetting import (
    Template,
    load_fields,
    load_sample,
    load_template_folder,
    parse_template,
    resolve_values,
)
from printing.typesetting.fields import Field
from tests.support.printing.made_templates import DEMO

NAMES = sorted(folder.name for folder in DEMO.iterdir() if folder.is_dir())
WORDS = [
    *("Ada", "Grace Hopper", "Katherine Johnson", "Hedy Lamarr", "Radia Perlman", "x", "O’Connor & Söhne"),
    *(
        "Zoë Ångström",
        "José Ñuñez",
        "Łukasz Żółkiewski",
        "Ægir Þórsson",
        "Smith (née Jones)",
    ),
    *(
        "Maximiliane-Alexandra von Hohenstein-Württemberg",
        "Wolfeschlegelsteinhausenbergerdorff",
        "1 / 2 – 3 €",
    ),
]
# Letters that the fonts of most designs lack.
OTHER_SCRIPTS = [
    "Ștefan Țîrlea",
    "Дмитрий Менделеев",
    "山田 太郎",
    "محمد الخوارزمي",
    "Ελένη Γλύκατζη",
    "นิธิ",
    "דבורה",
]
PPI = 220


Sample = tuple[Template, dict[str, str], dict[str, bytes]]


def demo_print(name: str, chance: random.Random | None = None, words: Sequence[str] = WORDS) -> Sample:
    """A template, values, and pictures; with `chance` some of the texts and all uploads are others."""
    fields = load_fields(DEMO / name)
    template = parse_template(load_template_folder(DEMO / name), fields)
    sample = {key: value for key, value in load_sample(DEMO / name).items() if value is not None}
    if chance is not None:
        sample |= {
            field.field_name: chance.choice(words)
            for field in fields
            if _is_free(field) and chance.random() < 0.5
        }
    photos = sorted((DEMO / name / "pictures").glob("*.jpg"))
    uploads = [field.field_name for field in fields if field.type == "Image" and field.sub_type == "Upload"]
    images = {field: photos[at % len(photos)].read_bytes() for at, field in enumerate(uploads) if photos}
    if chance is not None:
        images = {field: _upload(_printed_pixels(template, field), chance) for field in images}
    sample |= dict.fromkeys(images, "x")
    return template, resolve_values(fields, sample, template.gallery), images


def _printed_pixels(template: Template, field: str) -> tuple[int, int]:
    """Enough for the largest box that shows it; of a banner, which is seen from afar, fewer."""
    boxes = [(page, box) for page in template.pages for box in page.boxes if box.field == field]
    page, box = max(boxes, key=lambda one: one[1].width * one[1].height)
    ppi = PPI * min(1, 500 / max(page.width, page.height))
    return round(box.width / 25.4 * ppi) + 1, round(box.height / 25.4 * ppi) + 1


def _upload(size: tuple[int, int], chance: random.Random) -> bytes:
    """A picture of one of the kinds that may be sent, with something to see on it."""
    ramp = Image.linear_gradient("L").resize(size)
    turned = ramp.transpose(Image.Transpose.FLIP_TOP_BOTTOM)
    plate, middle, light = Image.new("L", size, 20), Image.new("L", size, 120), Image.new("L", size, 200)
    mode, form = chance.choice(
        [("RGB", "JPEG"), ("RGB", "PNG"), ("RGBA", "PNG"), ("L", "JPEG"), ("L", "PNG"), ("CMYK", "JPEG")]
    )
    bands = {
        "RGB": (ramp, middle, turned),
        "RGBA": (turned, ramp, middle, light),
        "L": (ramp,),
        "CMYK": (ramp, middle, plate, plate),
    }
    out = BytesIO()
    options = {"icc_profile": SHIPPED.read_bytes()} if mode == "CMYK" else {}
    Image.merge(mode, bands[mode]).save(out, form, **options)
    return out.getvalue()


def _is_free(field: Field) -> bool:
    return field.type == "Text" and field.sub_type == "SingleLine"
