"""Clips as the renderer of proofs follows them: not those to a path that is painted as well, nor all to a box."""

import re
from collections.abc import Iterator
from typing import Any

import pikepdf

from printing.press.objects import streams_of
from printing.press.streams import PAINTING, Instruction
from printing.press.tiles import content_of, rewrite_streams

# Finds more: letters, for example.
_PAINTED_CLIP = re.compile(rb"W\*?\s+(?:[sSF]|[fBb]\*?)(?!\S)")
_SHADING = re.compile(rb"\bsh\b")
_CLIPS = frozenset({"W", "W*"})
_PATHS = frozenset({"m", "l", "c", "v", "y", "h", "re"})


def part_clips(pdf: pikepdf.Pdf, holders: list[Any]) -> None:
    """Clips to a path after it was painted, by naming it again."""
    rewrite_streams(pdf, ((holder, _part) for holder in holders if _may_clip(holder)))


def bound_shading(mask: Any) -> None:
    """Clips a gradient that fills a mask to the mask's box: the renderer would paint it on the whole page."""
    content = mask.read_bytes() if "/Shading" in mask.get("/Resources", {}) else b""
    box = mask.get("/BBox", ())
    if _SHADING.search(content) and len(box) == 4:
        left, bottom, right, top = map(float, box)
        mask.write(b"%f %f %f %f re W n\n" % (left, bottom, right - left, top - bottom) + content)


def _may_clip(holder: Any) -> bool:
    contents = filter(None, map(content_of, streams_of(holder)))
    return any(_PAINTED_CLIP.search(content.get_stream_buffer()) for content in contents)


def _part(content: list[Instruction]) -> Iterator[Instruction]:
    path: list[Instruction] = []
    clip: list[Instruction] = []
    for instruction in content:
        name = str(instruction.operator)
        if name in _CLIPS:
            clip = [instruction]
            continue
        if name in _PATHS:
            path.append(instruction)
        elif name in PAINTING:
            if clip and name != "n":
                yield instruction
                yield from path
                instruction = pikepdf.ContentStreamInstruction([], pikepdf.Operator("n"))
            yield from clip
            path, clip = [], []
        yield instruction
