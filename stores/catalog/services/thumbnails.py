"""Pictures of products in lists: the first page of the template with samples in it, drawn when first shown.

Kept in memory by the version of the product, and by browsers for a week.
"""

from functools import lru_cache
from io import BytesIO

from PIL import Image

from accounts.callers import Caller
from fulfillment.core.observability.instruments import measured_rendering
from printing.caches import WeightedCache
from printing.typesetting import Field, render_page
from stores.concurrency_limits import RENDERINGS
from stores.templates.selectors import (
    TemplateLayout,
    font_names,
    layout_of,
    resolve_samples,
    typesetting_errors,
)

PIXELS = 360
QUALITY = 82
CACHE_BYTES = 24_000_000
# A list page requests as many pictures at once as a browser has connections.
WAIT_SECONDS = 4.0
SAMPLES = {
    "Name": "Ada Lovelace",
    "Agent": "Ada Lovelace",
    "Email": "hello@example.com",
    "Phone": "+1 555 010 0142",
    "Url": "example.com",
    "Date": "2027-01-31",
}

_cache: WeightedCache[tuple[int, int, str], bytes] = WeightedCache(capacity=CACHE_BYTES, weight=len)


def draw_thumbnail(*, product_id: int, version: int, caller: Caller) -> bytes:
    """A WebP picture; raises TemplateMissing, TemplateUnusable, ServiceBusy or TooManyAtOnce."""
    names = font_names()
    picture = _cache.get((product_id, version, names))
    if picture is None:
        layout = layout_of(product_id, version, names)
        with RENDERINGS.slot(caller.key, wait=WAIT_SECONDS):
            picture = _cache.get((product_id, version, names)) or _draw_layout(layout)
        _cache.put((product_id, version, names), picture)
    return picture


def _draw_layout(layout: TemplateLayout) -> bytes:
    samples = {field.field_name: _find_sample(field, layout) for field in layout.fields}
    uploads = {field.field_name for field in layout.fields if field.sub_type == "Upload"}
    images = {name: _make_placeholder() for name in uploads if samples[name] not in layout.template.gallery}
    texts = {name: text for name, text in samples.items() if text}
    values, _ = resolve_samples(layout.fields, texts, layout.template.gallery)
    with typesetting_errors(), measured_rendering("thumbnail"):
        page = render_page(layout.template, 0, values, images, layout.fonts, pixels=PIXELS)
    return _shrink_picture(page.png)


def _shrink_picture(png: bytes) -> bytes:
    """The picture as WebP without transparency, and at most PIXELS wide and high."""
    content = BytesIO()
    with Image.open(BytesIO(png)) as picture:
        sheet = picture.convert("RGB")
    sheet.thumbnail((PIXELS, PIXELS))
    sheet.save(content, "WEBP", quality=QUALITY)
    return content.getvalue()


def _find_sample(field: Field, layout: TemplateLayout) -> str:
    """The field's default, else an example of its type, else its prompt."""
    if first := field.org_value or field.default_value:
        return first.replace("\r\n", "\n")
    if field.choices:
        return field.choices[0]
    if field.type != "Text":
        return next(iter(layout.template.gallery), "sample")
    return SAMPLES.get(field.field_name) or SAMPLES.get(field.sub_type) or field.prompt or field.field_name


@lru_cache(maxsize=1)
def _make_placeholder() -> bytes:
    """A gray placeholder for an uploaded picture."""
    content = BytesIO()
    Image.new("RGB", (400, 300), "#d5dad7").save(content, "PNG")
    return content.getvalue()
