"""What a post office and a sewing machine need blank on the demo's designs."""

import io

import pytest
from PIL import Image

from printing.typesetting import render_proof
from tests.support.catalog.demo_products import demo_job

# The Postal Service prints its bar code there, within the lower right corner of the address side.
BAR_CODE_INCHES = (4.75, 0.625)
POLE_POCKET_INCHES = 3


def drawn(name, page):
    job = demo_job(name)
    picture = render_proof(job.template, job.values, job.images).pages[page]
    size = job.template.pages[page].width / 25.4
    whole = Image.open(io.BytesIO(picture)).convert("L")
    return whole, whole.width / size


@pytest.mark.parametrize("name", ["postcard-4x6", "postcard-5x7", "photo-postcard-6x9"])
def test_bar_code_area_of_mailed_backs_is_blank(name):
    whole, ppi = drawn(name, 1)
    left, top = (side - round(inches * ppi) for side, inches in zip(whole.size, BAR_CODE_INCHES, strict=True))

    low, high = whole.crop((left, top, *whole.size)).getextrema()

    assert high - low <= 4


def test_pole_pockets_of_the_banner_have_no_letters():
    whole, ppi = drawn("banner-2x6ft", 0)
    top = whole.height - round(POLE_POCKET_INCHES * ppi)

    low, high = whole.crop((0, top, *whole.size)).getextrema()

    assert high - low <= 4
