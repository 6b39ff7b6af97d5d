"""Print files of the demo's templates, with the values that come with them."""

import random

from stores.typesetting import (
    Template,
    load_fields,
    load_sample,
    load_template_folder,
    parse_template,
    resolve_values,
)
from stores.typesetting.fields import Field
from tests.support.made_templates import DEMO

NAMES = sorted(folder.name for folder in DEMO.iterdir() if folder.is_dir())
WORDS = [
    "Ada",
    "Lovelace",
    "Grace",
    "Hopper",
    "Katherine",
    "Johnson",
    "Mary",
    "Jackson",
    "Hedy",
    "Lamarr",
    "Radia",
    "Perlman",
]


def demo_print(
    name: str, chance: random.Random | None = None
) -> tuple[Template, dict[str, str], dict[str, bytes]]:
    """A template, values that fit, and pictures; with `chance` some of the texts are others."""
    fields = load_fields(DEMO / name)
    template = parse_template(load_template_folder(DEMO / name), fields)
    sample = {key: value for key, value in load_sample(DEMO / name).items() if value is not None}
    if chance is not None:
        sample |= {
            one.field_name: chance.choice(WORDS) for one in fields if _is_free(one) and chance.random() < 0.5
        }
    photos = sorted((DEMO / name / "pictures").glob("*.jpg"))
    uploads = [one.field_name for one in fields if one.type == "Image" and one.sub_type == "Upload"]
    images = {field: photos[at % len(photos)].read_bytes() for at, field in enumerate(uploads) if photos}
    sample |= dict.fromkeys(images, "x")
    return template, resolve_values(fields, sample, template.gallery), images


def _is_free(field: Field) -> bool:
    return field.type == "Text" and field.sub_type == "SingleLine"
