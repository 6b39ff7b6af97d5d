"""SVG artwork of store staff is read in a web process, which answers nobody else meanwhile."""

import contextlib
import time

import pytest

from printing.preflight.svg import read_svg
from printing.typesetting.artwork import ArtworkInvalid, measure_artwork


def svg(attributes: str, content: str = "") -> bytes:
    return f"<svg xmlns='http://www.w3.org/2000/svg' {attributes}>{content}</svg>".encode()


def inside(content: str) -> bytes:
    return svg("viewBox='0 0 85 55'", content)


@pytest.mark.parametrize(
    "content",
    [
        svg(f"width='{'1' * 20_000}!' height='1'"),
        svg(f"width='1{' ' * 60_000}!' height='1'"),
        inside(f"<rect style='fill:ur/**/l({' ' * 60_000}x'/>"),
        inside(f"<rect transform='{'scale(' * 16_000}'/>"),
        inside(f"<g fill='({'u' * 300_000}'>{'<g/>' * 4_000}</g>"),
        inside(f"<g fill='{'url(#a)' * 30_000}'>{'<g/>' * 500}</g>"),
        inside(f"<g stroke='red' stroke-width='{'1' * 300_000}'>{'<path/>' * 4_000}</g>"),
    ],
    ids=["digits", "spaces of a length", "spaces of an address", "steps", "text", "addresses", "number"],
)
def test_long_attributes_are_read_in_one_pass(content):
    begun = time.process_time()

    with contextlib.suppress(ArtworkInvalid):
        measure_artwork("image/svg+xml", content)
    read_svg(content)

    assert time.process_time() - begun < 1
