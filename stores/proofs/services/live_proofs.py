"""The live proof of the start page: one page of a card of the demo store, for anyone, kept in memory alone.

Signed-out visitors count as one caller and have one rendering at a time, so that the API is not slowed.
"""

import hashlib
from collections.abc import Mapping
from io import BytesIO

from django.conf import settings
from django.utils.translation import gettext as _
from PIL import Image

from accounts.callers import Caller
from accounts.rate_limits import enforce_limit
from fulfillment.core.errors import Invalid
from fulfillment.core.http.addresses import rate_limit_key_for_ip
from fulfillment.core.observability.instruments import measured_rendering
from printing.caches import WeightedCache
from printing.text import is_blank
from printing.typesetting import Field, proof_dpi, render_page
from stores.concurrency_limits import LIVE_PROOFS, RENDERINGS
from stores.proofs.selectors import ProductVersion, Showcase
from stores.proofs.services.merging import TemplateMerge, merge_template
from stores.templates.selectors import fields_of, typesetting_errors, values_invalid

PIXELS = 720
COLORS = 128
MAX_NAME_LENGTH = 60
USUAL_NAME = "Ada Lovelace"
CACHE_BYTES = 16_000_000
WAIT_SECONDS = 1.0
VISITORS = "start page"
VISITOR = Caller()
# Examples for fields without a default, by name or SubType.
SAMPLES = {
    "Name": USUAL_NAME,
    "Agent": USUAL_NAME,
    "Title": "Founder",
    "Price": "$480,000",
    "Address": "1200 17th Street, Denver, CO 80202",
    "Email": "hello@example.com",
    "Phone": "+1 555 010 0142",
    "Url": "example.com",
    "Date": "2027-01-31",
}

_kept: WeightedCache[str, bytes] = WeightedCache(capacity=CACHE_BYTES, weight=len)

# A field is rarely on more pages; the proof shows the others.
MAX_PAGES = 2


def make_live_values(*, card: Showcase, name: str) -> dict[str, str]:
    """The values of the proof: the name, and an example for each field without a default."""
    if is_blank(name):
        name = USUAL_NAME
    if len(name) > MAX_NAME_LENGTH:
        raise Invalid.at(
            "/Name",
            "too_long",
            _("A name here has at most %(max_length)s characters.") % {"max_length": MAX_NAME_LENGTH},
        )
    samples = {field.field_name: _find_sample(field) for field in fields_of(card.product.pk)}
    return {
        "Name": name,
        **{field_name: text for field_name, text in samples.items() if text and field_name != "Name"},
    }


def draw_live_proof(*, card: Showcase, values: dict[str, str], address: str) -> bytes:
    """The PNG of the first page; raises Invalid, TooManyRequests or ServiceBusy."""
    filling = merge_template(caller=VISITOR, product=card.product, values=values)
    key = filling.digest("live", str(PIXELS))
    picture = _kept.get(key)
    if picture is None:
        enforce_limit("live-proof", rate_limit_key_for_ip(address), quota=settings.LIVE_PROOFS_PER_MINUTE)
        with LIVE_PROOFS.slot(VISITORS, wait=WAIT_SECONDS):
            picture = _kept.get(key) or _draw_filling(filling)
        _kept.put(key, picture)
    return picture


def tag_of(picture: bytes) -> str:
    return hashlib.sha256(picture).hexdigest()[:32]


def _draw_filling(filling: TemplateMerge) -> bytes:
    layout = filling.layout
    with (
        RENDERINGS.slot(VISITORS, wait=WAIT_SECONDS),
        typesetting_errors(),
        measured_rendering("live proof"),
    ):
        drawn = render_page(layout.template, 0, filling.values, {}, layout.fonts, pixels=PIXELS)
    unprintable = [problem for problem in drawn.problems if problem.code == "does_not_fit"]
    if unprintable:
        raise values_invalid(unprintable)
    return reduce_colors(drawn.png)


def reduce_colors(png: bytes) -> bytes:
    """The picture with a palette, a third of the size; unchanged if that is not smaller."""
    with Image.open(BytesIO(png)) as picture:
        reduced = picture.convert("RGB").quantize(
            COLORS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE
        )
    out = BytesIO()
    reduced.save(out, "PNG")
    return min(png, out.getvalue(), key=len)


def _find_sample(field: Field) -> str:
    if field.org_value or field.default_value:
        return ""
    sample = SAMPLES.get(field.field_name) or SAMPLES.get(field.sub_type)
    return sample or (field.prompt if field.required and field.type == "Text" else "")


def draw_draft(
    *, caller: Caller, product: ProductVersion, values: Mapping[str, object], field: str
) -> dict[int, bytes]:
    """The PNG of each page that shows the field, by its number from 1, as a proof shows it.

    Raises Invalid where a proof does.
    """
    merged = merge_template(caller=caller, product=product, values=values)
    layout, images = merged.layout, merged.images()
    pages = layout.template.pages
    dpi = proof_dpi((page.width, page.height) for page in pages)
    showing = [index for index, page in enumerate(pages) if any(box.field == field for box in page.boxes)]
    mark, drawn = settings.PROOF_WATERMARK, {}
    with RENDERINGS.slot(caller.key), typesetting_errors(), measured_rendering("draft"):
        for index in showing[:MAX_PAGES]:
            pixels = round(pages[index].width / 25.4 * dpi)
            picture = render_page(
                layout.template, index, merged.values, images, layout.fonts, mark, pixels=pixels
            )
            if unfit := [problem for problem in picture.problems if problem.code == "does_not_fit"]:
                raise values_invalid(unfit)
            drawn[index + 1] = picture.png
    return drawn
