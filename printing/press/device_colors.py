"""Gives device colors of artwork the profile that PDF/X-4 requires of them.

DeviceRGB has no meaning on a press, so what is left in it becomes sRGB. CMYK that names the profile of the output
intent becomes DeviceCMYK, which is the same colors. In a file in inks all CMYK does, so that no RIP converts it again.
"""

import re
from functools import cache
from typing import Any

import pikepdf
from PIL import ImageCms

from printing.press.objects import Visited, resources_of_kind

# LittleCMS writes version 4.4 and the current time; readers of PDF 1.6 know 4.2, and bytes must not change.
VERSION = bytes.fromhex("04200000")
MOMENT = b"".join(part.to_bytes(2) for part in (2000, 1, 1, 0, 0, 0))
# Operators and names that set RGB in a content stream, short names of inline pictures included.
_IN_RGB = re.compile(rb"(?<![\w/.])(?:rg|RG)(?![\w*])|/(?:Device)?RGB(?!\w)")
# Where a color space names the one below it.
_BASES = {"/Indexed": 1, "/Pattern": 1, "/Separation": 2, "/DeviceN": 2}
_SPACES_DEEP = 4


class DeviceColors:
    """Walks each object once, with a list of what is left, because artwork may nest forms deeply."""

    def __init__(self, pdf: pikepdf.Pdf, output_profile: bytes | None) -> None:
        """Without an `output_profile`, all CMYK is that of the press."""
        self._pdf, self._output_profile = pdf, output_profile
        self._srgb: Any = None
        self._visited = Visited()
        self._pending: list[tuple[list[Any], Any, Any]] = []

    def run(self) -> None:
        for page in self._pdf.pages:
            content = page.obj.get("/Contents", pikepdf.Array())
            streams = list(content) if isinstance(content, pikepdf.Array) else [content]
            self._pending.append((streams, page.obj, None))
        while self._pending:
            self._visit_holder(*self._pending.pop())

    def _visit_holder(self, streams: list[Any], holder: Any, outer: Any) -> None:
        """A page, form, pattern or font; one without resources uses those of the page."""
        resources = holder.get("/Resources")
        if any(_draws_in_rgb(stream) for stream in streams):
            if resources is None:
                holder.Resources = pikepdf.Dictionary(dict(outer.items()) if outer is not None else {})
                resources = holder.Resources
            self._add_default(resources)
        if resources is not None and self._visited.is_new(resources):
            self._visit_resources(resources)

    def _add_default(self, resources: Any) -> None:
        spaces = dict(resources.get("/ColorSpace", pikepdf.Dictionary()).items())
        if "/DefaultRGB" not in spaces:
            resources.ColorSpace = pikepdf.Dictionary({**spaces, "/DefaultRGB": self._srgb_space()})

    def _visit_resources(self, resources: Any) -> None:
        spaces = resources.get("/ColorSpace", pikepdf.Dictionary())
        for name in list(spaces.keys()):
            self._set_space(spaces, name)
        for xobject in resources_of_kind(resources, "/XObject"):
            self._add_drawing(xobject, resources)
        for shading in resources_of_kind(resources, "/Shading"):
            self._set_space(shading, "/ColorSpace")
        for pattern in resources_of_kind(resources, "/Pattern"):
            if "/Shading" in pattern:
                self._set_space(pattern.Shading, "/ColorSpace")
            self._add_stream(pattern, resources)
        for state in resources_of_kind(resources, "/ExtGState"):
            mask = state.get("/SMask")
            if isinstance(mask, pikepdf.Dictionary) and "/G" in mask:
                self._add_drawing(mask.G, resources)
        for font in resources_of_kind(resources, "/Font"):
            if "/CharProcs" in font and self._visited.is_new(font):
                self._pending.append((list(font.CharProcs.values()), font, resources))

    def _add_drawing(self, xobject: Any, resources: Any) -> None:
        self._set_space(xobject, "/ColorSpace")
        if isinstance(group := xobject.get("/Group"), pikepdf.Dictionary):
            self._set_space(group, "/CS")
        if str(xobject.get("/Subtype")) == "/Form":
            self._add_stream(xobject, resources)

    def _add_stream(self, stream: Any, outer: Any) -> None:
        if isinstance(stream, pikepdf.Stream) and self._visited.is_new(stream):
            self._pending.append(([stream], stream, outer))

    def _set_space(self, holder: Any, key: str) -> None:
        if key in holder and (replaced := self._find_replacement(holder[key])) is not None:
            holder[key] = replaced

    def _find_replacement(self, space: Any, depth: int = 0) -> Any:
        """The color space that takes its place, or None; bases inside of it are replaced there."""
        if isinstance(space, pikepdf.Name):
            return self._srgb_space() if space == "/DeviceRGB" else None
        if not isinstance(space, pikepdf.Array) or not len(space):
            return None
        if str(space[0]) == "/ICCBased":
            return pikepdf.Name.DeviceCMYK if self._is_of_output(space[1]) else None
        index = _BASES.get(str(space[0]), 0)
        if 0 < index < len(space) and depth < _SPACES_DEEP:
            base = self._find_replacement(space[index], depth + 1)
            if base is not None:
                space[index] = base
        return None

    def _is_of_output(self, profile: Any) -> bool:
        output = self._output_profile
        return int(profile.get("/N", 0)) == 4 and (output is None or profile.read_bytes() == output)

    def _srgb_space(self) -> Any:
        if self._srgb is None:
            profile = pikepdf.Stream(self._pdf, srgb_profile(), N=3)
            space = pikepdf.Array([pikepdf.Name.ICCBased, self._pdf.make_indirect(profile)])
            self._srgb = self._pdf.make_indirect(space)
        return self._srgb


@cache
def srgb_profile() -> bytes:
    profile = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    profile[8:12], profile[24:36], profile[84:100] = VERSION, MOMENT, bytes(16)
    return bytes(profile)


def _draws_in_rgb(stream: Any) -> bool:
    content = stream.read_bytes()
    # The pattern begins with a look back, which is slow: most streams are skipped before.
    return (b"rg" in content or b"RG" in content) and _IN_RGB.search(content) is not None
