"""What the plates of a print file look like together, drawn by a renderer that knows screens alone.

A page is drawn twice: cyan, magenta and yellow as red, green and blue of one picture, black as the gray of another.
Each is blended by itself, as on a press, and the profile of the press turns the inks into colors.
"""

from collections.abc import Sequence
from io import BytesIO
from typing import Any

import pikepdf
from PIL import Image, ImageChops

from printing.press.colors import FULL, Separation
from printing.press.gradients import repaint_gradient, repaint_tint
from printing.press.objects import UNPACKED, is_plain, save_pdf, states_of
from printing.press.paints import (
    COMPONENTS,
    DEVICE,
    GRAY,
    OF_CMYK,
    OF_RGB,
    Paint,
    Values,
    convert_to_inks,
    gray_of,
    is_gray,
)
from printing.press.palettes import is_palette
from printing.press.repaint import Repainter, is_readable, kind_of, write_plain

# PostScript that follows a tint function, by the kind of its results: the complements of the inks of a view.
_COLORS = {OF_CMYK: b"pop" + 3 * b" 1 exch sub 3 1 roll", GRAY: b"pop 1 1 1"}
_BLACK = {OF_CMYK: b"4 1 roll pop pop pop 1 exch sub", GRAY: b""}
# What is drawn without a color is black alone.
_WHITE = b"1 g 1 G\n"
FUNCTIONS_DEEP = 8


class _View:
    """A color conversion to the complements of some of the inks."""

    target: str
    postscript: dict[str, bytes]
    # The plate of what the file leaves in RGB or Lab: the view of colors shows all of it, that of black nothing.
    others: bytes | None = None

    def __init__(self, separation: Separation) -> None:
        self._separation = separation

    def inks(self, kind: str, values: Values) -> Values:
        if kind == OF_CMYK:
            return values
        if kind == GRAY or is_gray(kind, values):
            return [0, 0, 0, 1 - values[0] if kind == GRAY else 1 - gray_of(kind, values) / FULL]
        return convert_to_inks(self._separation, kind, values)

    def plates(self, picture: Image.Image) -> tuple[Image.Image, ...]:
        if picture.mode == "L":
            empty = Image.new("L", picture.size, 0)
            return empty, empty, empty, ImageChops.invert(picture)
        inks = picture if picture.mode == "CMYK" else self._separation.picture(picture)
        return inks.split()

    def color(self, kind: str, values: Values) -> Values:
        raise NotImplementedError

    def blend(self, kind: str, colors: Sequence[Values]) -> list[Values]:
        return [self.color(kind, values) for values in colors]

    def picture(self, picture: Image.Image, *, as_jpeg: bool) -> Image.Image:
        raise NotImplementedError


class _Colors(_View):
    target, postscript = OF_RGB, _COLORS

    def color(self, kind: str, values: Values) -> Values:
        return [1 - ink for ink in self.inks(kind, values)[:3]]

    def picture(self, picture: Image.Image, *, as_jpeg: bool) -> Image.Image:
        return ImageChops.invert(Image.merge("RGB", self.plates(picture)[:3]))


class _Black(_View):
    target, postscript, others = GRAY, _BLACK, b"pop pop pop 1"

    def color(self, kind: str, values: Values) -> Values:
        return [1 - self.inks(kind, values)[3]]

    def picture(self, picture: Image.Image, *, as_jpeg: bool) -> Image.Image:
        return ImageChops.invert(self.plates(picture)[3])


def views(printed: bytes, separation: Separation) -> tuple[bytes, bytes]:
    """A print file, its pages cut to their trim, in colors and in black; `join` puts their pictures together."""
    return _draw_view(printed, _Colors(separation)), _draw_view(printed, _Black(separation))


def join(colors: Image.Image, black: Image.Image, separation: Separation) -> Image.Image:
    inks = (*ImageChops.invert(colors.convert("RGB")).split(), ImageChops.invert(black.convert("L")))
    return separation.picture_on_screen(Image.merge("CMYK", inks))


def total_ink(colors: Image.Image, black: Image.Image) -> Image.Image:
    """White where all four inks of the views are full, black on paper."""
    cyan, magenta, yellow = ImageChops.invert(colors.convert("RGB")).split()
    halves = (
        ImageChops.add(cyan, magenta, 2),
        ImageChops.add(yellow, ImageChops.invert(black.convert("L")), 2),
    )
    return ImageChops.add(*halves, 2)


def blend_overprint(printed: bytes) -> bytes:
    """Puts the highest ink in the place of overprint, which the renderer does not know.

    Views blend complements of inks: the darker one is that of the plate below where a color has nothing of it.
    """
    with pikepdf.open(BytesIO(printed)) as pdf:
        for state in states_of(pdf):
            fill = state.get("/op", state.get("/OP"))
            if fill is not None and is_plain(state):
                keeps_plates = bool(fill) and int(state.get("/OPM", 0)) == 1
                state.BM = pikepdf.Name.Darken if keeps_plates else pikepdf.Name.Normal
        return save_pdf(pdf, **UNPACKED)


def _draw_view(printed: bytes, view: _View) -> bytes:
    with pikepdf.open(BytesIO(printed)) as pdf:
        _Drawing(pdf, view).run()
        for page in pdf.pages:
            cut_to_trim(page)
            if "/Group" in page.obj:
                page.obj.Group.CS = pikepdf.Name(DEVICE[view.target])
        return save_pdf(pdf, **UNPACKED)


def cut_to_trim(page: pikepdf.Page) -> None:
    page.obj.MediaBox = page.obj.BleedBox = page.trimbox


class _Drawing(Repainter):
    """Converts everything that a print file can hold, spot colors as what shows them."""

    def __init__(self, pdf: pikepdf.Pdf, view: _View) -> None:
        super().__init__(pdf, view)
        self._view = view
        self._spaces: dict[str, Any] = {}

    def run(self) -> None:
        super().run()
        if self._view.target == OF_RGB:
            for page in self._pdf.pages:
                page.contents_add(_WHITE, prepend=True)
            for item in list(self._pdf.objects):
                if isinstance(item, pikepdf.Stream) and item.get("/PaintType") == 1:
                    item.write(_WHITE + item.read_bytes())

    def _repaint_spot(self, space: Any, paint: Paint) -> None:
        if paint is not self._view:
            super()._repaint_spot(space, paint)
            return
        if not isinstance(space, pikepdf.Array) or len(space) < 2 or not self._visited.is_new(space):
            return
        name = str(space[0])
        if name in {"/Pattern", "/Indexed"}:
            self._repaint_spot(space[1], paint)
            if (kind := self._find_kind(space[1])) is not None:
                space[1] = self._make_space(kind, space[1])
        elif name in {"/Separation", "/DeviceN"} and (kind := self._find_kind(space[2])) is not None:
            if (selected := self._convert_function(space[3], kind)) is not None:
                space[2], space[3] = pikepdf.Name(DEVICE[paint.target]), selected
            else:
                repaint_tint(self._pdf, space, kind, paint)

    def _repaint_gradient(self, shading: Any, paint: Paint) -> None:
        space = shading.get("/ColorSpace")
        if paint is not self._view or not self._visited.is_new(shading):
            super()._repaint_gradient(shading, paint)
        elif (kind := self._find_kind(space)) is None:
            self._repaint_spot(space, paint)
        elif not repaint_gradient(self._pdf, shading, kind, paint):
            shading.ColorSpace = self._make_space(kind, space)

    def _repaint_picture(self, image: Any, paint: Paint) -> None:
        if paint is not self._view:
            super()._repaint_picture(image, paint)
            return
        if not self._visited.is_new(image) or image.get("/ImageMask", False):
            return
        space = image.get("/ColorSpace")
        kind = self._find_kind(space)
        if is_palette(space) and kind_of(space[1]) is not None:
            image.ColorSpace = self._repaint_palette(space, paint)
        elif kind is None:
            self._repaint_spot(space, paint)
        elif not is_readable(image, kind) or (picture := self._decode_picture(image, kind)) is None:
            image.ColorSpace = self._make_space(kind, space)
        else:
            write_plain(image, paint.picture(picture, as_jpeg=False) or picture, paint.target)

    def _make_space(self, kind: str, space: Any) -> Any:
        """A color space that takes the same numbers and gives the complements of the inks."""
        postscript = self._view.postscript.get(kind, self._view.others)
        if postscript is None:
            return space
        if kind not in self._spaces:
            count = COMPONENTS[kind]
            tint = self._calculator_function(postscript, [0, 1] * count)
            names = pikepdf.Array([pikepdf.Name(f"/Ink{number}") for number in range(count)])
            base = pikepdf.Name(DEVICE[self._view.target])
            space_of_inks = pikepdf.Array([pikepdf.Name.DeviceN, names, base, tint])
            self._spaces[kind] = self._pdf.make_indirect(space_of_inks)
        return self._spaces[kind]

    def _calculator_function(self, postscript: bytes, domain: Any) -> pikepdf.Stream:
        content = b"{ " + postscript + b" }"
        return pikepdf.Stream(self._pdf, content, FunctionType=4, Domain=domain, Range=self._range)

    @property
    def _range(self) -> list[int]:
        return [0, 1] * COMPONENTS[self._view.target]

    def _convert_function(self, function: Any, kind: str, depth: int = 0) -> Any:
        """The function with the complements of the inks as its results; None if that is not possible."""
        if kind not in self._view.postscript or depth > FUNCTIONS_DEEP:
            return None
        form = int(function.FunctionType)
        domain = [float(bound) for bound in function.Domain]
        if form == 4:
            inner = function.read_bytes().strip()[1:-1]
            return self._calculator_function(inner + b" " + self._view.postscript[kind], domain)
        if form == 0:
            return self._sampled_function(function, domain) if kind == OF_CMYK else None
        if form == 2:
            ends = (function.get("/C0", [0]), function.get("/C1", [1]))
            first, last = (self._view.color(kind, [float(component) for component in end]) for end in ends)
            return pikepdf.Dictionary(FunctionType=2, Domain=domain, N=function.N, C0=first, C1=last)
        parts = [self._convert_function(part, kind, depth + 1) for part in function.Functions]
        if None in parts:
            return None
        return pikepdf.Dictionary(
            FunctionType=3, Domain=domain, Functions=parts, Bounds=function.Bounds, Encode=function.Encode
        )

    def _sampled_function(self, function: Any, domain: list[float]) -> pikepdf.Stream | None:
        import numpy as np  # noqa: PLC0415 - heavy, and only for tables of spot colors

        if (bits := int(function.BitsPerSample)) not in {8, 16}:
            return None
        samples = np.frombuffer(function.read_bytes(), np.uint8).reshape(-1, 4, bits // 8)
        plates = (0, 1, 2) if self._view.target == OF_RGB else (3,)
        ends = [float(end) for end in function.get("/Decode", function.Range)]
        sampled = pikepdf.Stream(
            self._pdf,
            samples[:, plates].tobytes(),
            FunctionType=0,
            Domain=domain,
            Range=self._range,
            Size=function.Size,
            BitsPerSample=bits,
            Decode=[1 - ends[2 * plate + side] for plate in plates for side in (0, 1)],
        )
        if "/Encode" in function:
            sampled.Encode = function.Encode
        return sampled
