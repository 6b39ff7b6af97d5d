"""Uploaded pictures at the size at which a proof shows them."""

import hashlib

from printing.caches import WeightedCache
from printing.press.pictures import reshaped_size
from printing.typesetting.artwork import crop_picture, shrink_picture
from printing.typesetting.template import Box

PROOF_DPI = 200
# Larger pictures are decoded only once, for a proof's smaller copy.
SMALL_PICTURE = 4_000_000
# The typesetter first draws all of a picture at the scale of its box: so many times the pixels of a page at most.
LONG = 4
COPIES_BYTES = 16 * 1024 * 1024

Size = tuple[int, int]
smaller_copies: WeightedCache[tuple[bytes, Size], bytes] = WeightedCache(capacity=COPIES_BYTES, weight=len)


def for_proof(box: Box, content: bytes, size: Size) -> bytes:
    """The picture with no more pixels than a proof shows, and in the proportion of its box if it is far from it."""
    if box.fit != "contain" and _is_long(box, size):
        return _in_proportion(box, content, size)
    dpi = printed_dpi(box, size)
    if dpi < 2 * PROOF_DPI:
        return content
    target = (max(1, round(size[0] * PROOF_DPI / dpi)), max(1, round(size[1] * PROOF_DPI / dpi)))
    # A photo is sent again with each change of the texts beside it.
    key = hashlib.sha256(content).digest(), target
    return smaller_copies.get_or_make(key, lambda: shrink_picture(content, target))


def printed_dpi(box: Box, size: tuple[float, float]) -> float:
    across, down = size[0] / (box.width / 25.4), size[1] / (box.height / 25.4)
    return max(across, down) if box.fit == "contain" else min(across, down)


def _is_long(box: Box, size: Size) -> bool:
    times = size[0] / size[1] * box.height / box.width
    return max(times, 1 / times) > LONG


def _in_proportion(box: Box, content: bytes, size: Size) -> bytes:
    across, down = (side / 25.4 * PROOF_DPI for side in (box.width, box.height))
    factor = min(1.0, (SMALL_PICTURE / (across * down)) ** 0.5)
    target = max(1, round(across * factor)), max(1, round(down * factor))

    def scale_picture() -> bytes:
        if box.fit == "stretch":
            return shrink_picture(content, target)
        proportion = box.width / box.height
        cropped = crop_picture(content, size, proportion)
        is_larger = reshaped_size(size, proportion, crop=True) > target
        return shrink_picture(cropped, target) if is_larger else cropped

    key = hashlib.sha256(content).digest() + box.fit.encode(), target
    return smaller_copies.get_or_make(key, scale_picture)
