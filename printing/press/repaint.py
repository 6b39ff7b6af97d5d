"""Converts all colors of a page: content streams, gradients and pictures."""

import zlib
from itertools import count
from typing import Any

import pikepdf
from PIL import Image, ImageChops

from printing.press.gradients import repaint_gradient, repaint_tint
from printing.press.objects import Visited, drop, resources_of_kind
from printing.press.paints import (
    DEVICE,
    GRAY,
    KINDS_OF_SIZES,
    OF_CMYK,
    OF_LAB,
    OF_RGB,
    Paint,
    Shades,
    byte,
)
from printing.press.palettes import is_palette, repaint_palette
from printing.press.pictures import INVERTED, jpeg_in, jpeg_of
from printing.press.streams import Instruction, ParsedStream, recolor_stream
from printing.press.tagged import Profiles, Tagged

KINDS_OF_DEVICES = {
    "/DeviceRGB": OF_RGB,
    "/CalRGB": OF_RGB,
    "/DeviceGray": GRAY,
    "/CalGray": GRAY,
    "/DeviceCMYK": OF_CMYK,
}


def kind_of(space: Any) -> str | None:
    """The kind of a color space; None for patterns, spot colors and other spaces."""
    if isinstance(space, pikepdf.Name):
        return KINDS_OF_DEVICES.get(str(space))
    if not isinstance(space, pikepdf.Array) or not len(space):
        return None
    if str(space[0]) == "/ICCBased":
        return KINDS_OF_SIZES.get(int(space[1].get("/N", 0)))
    return OF_LAB if str(space[0]) == "/Lab" else KINDS_OF_DEVICES.get(str(space[0]))


class Repainter:
    """Converts each object once; objects of masks become gray."""

    def __init__(self, pdf: pikepdf.Pdf, paint: Paint) -> None:
        self._pdf, self._paint = pdf, paint
        self._visited = Visited()
        self._emptied: list[tuple[Any, list[str]]] = []
        self._masks: list[tuple[Any, Paint]] = []
        self._profiles = Profiles()
        # Entries of dictionaries that several drawings share: one that becomes gray leaves those of inks to the others.
        self._kept: set[tuple[tuple[int, int], str]] = set()

    def run(self) -> None:
        for page in self._pdf.pages:
            if "/Contents" not in page.obj:
                continue
            if isinstance(page.obj.Contents, pikepdf.Array):
                page.contents_coalesce()
            self._repaint_stream(page.obj.Contents, page.obj.get("/Resources"), self._paint, is_page=True)
        # Last: what a page shows as well must not become gray. Masks may have others in them.
        for mask, paint in self._masks:
            self._repaint_mask(mask, paint)
        for resources, names in self._emptied:
            for name in names:
                if name in resources.ColorSpace and (_dictionary_number(resources), name) not in self._kept:
                    del resources.ColorSpace[name]

    def _repaint_stream(self, stream: Any, resources: Any, paint: Paint, *, is_page: bool = False) -> None:
        if not self._visited.is_new(stream):
            return
        if (group := stream.get("/Group")) is not None and "/CS" in group:
            group.CS = pikepdf.Name(DEVICE[paint.target])
        named_spaces = resources.get("/ColorSpace") if resources is not None else None
        spaces = dict(KINDS_OF_DEVICES)
        own_names: list[str] = []
        for name, space in named_spaces.items() if named_spaces is not None else ():
            if (kind := self._find_kind(space)) is not None:
                spaces[name] = kind
                own_names.append(name)
        content = stream.read_bytes()
        painted = recolor_stream(content, spaces, paint)
        if painted is None:
            parts = [
                self._extract_picture(instruction, resources)
                for instruction in pikepdf.parse_content_stream(stream)
            ]
            painted = ParsedStream(spaces, paint, is_page=is_page).recolor(parts)
        if painted != content:
            # Compressed when the file is saved.
            stream.write(painted)
        replaced = [name for name in own_names if paint.target != OF_CMYK or spaces[name] != OF_CMYK]
        if replaced:
            self._emptied.append((resources, replaced))
        if resources is not None:
            if (shared := _dictionary_number(resources)) != (0, 0):
                self._kept |= {(shared, name) for name in own_names if name not in replaced}
            self._repaint_resources(resources, paint)

    def _extract_picture(self, instruction: Instruction, resources: Any) -> Instruction:
        """A picture inside of the content becomes one of the resources, which are painted next."""
        if not isinstance(instruction, pikepdf.ContentStreamInlineImage) or resources is None:
            return instruction
        image = instruction.iimage
        if image.image_mask:
            return instruction
        picture = pikepdf.Stream(self._pdf, image.read_raw_bytes(), image.obj)
        picture.Type, picture.Subtype = pikepdf.Name.XObject, pikepdf.Name.Image
        named_spaces = resources.get("/ColorSpace", pikepdf.Dictionary())
        if isinstance(space := picture.get("/ColorSpace"), pikepdf.Name) and str(space) in named_spaces:
            picture.ColorSpace = named_spaces[str(space)]
        if "/XObject" not in resources:
            resources.XObject = pikepdf.Dictionary()
        names = (f"/Inline{number}" for number in count(len(resources.XObject)))
        name = next(candidate for candidate in names if candidate not in resources.XObject)
        resources.XObject[name] = self._pdf.make_indirect(picture)
        return pikepdf.ContentStreamInstruction([pikepdf.Name(name)], pikepdf.Operator("Do"))

    def _repaint_resources(self, resources: Any, paint: Paint) -> None:
        if not self._visited.is_new(resources):
            return
        self._repaint_colors(resources, paint)
        for xobject in resources_of_kind(resources, "/XObject"):
            draw = {"/Form": self._repaint_form, "/Image": self._repaint_picture}.get(
                str(xobject.get("/Subtype"))
            )
            if draw is not None:
                draw(xobject, paint)
        for font in resources_of_kind(resources, "/Font"):
            if str(font.get("/Subtype")) == "/Type3":
                for glyph in font.CharProcs.values():
                    self._repaint_stream(glyph, font.get("/Resources"), paint)
        for state in resources_of_kind(resources, "/ExtGState"):
            mask = state.get("/SMask")
            if isinstance(mask, pikepdf.Dictionary) and "/G" in mask:
                self._masks.append((mask, paint))

    def _repaint_mask(self, mask: Any, paint: Paint) -> None:
        """Repaints a mask, whose backdrop is a color of its group."""
        if str(mask.get("/S")) != "/Luminosity":
            self._repaint_form(mask.G, paint)
            return
        self._repaint_form(mask.G, Shades())
        group = mask.G.get("/Group", pikepdf.Dictionary())
        if "/CS" not in group:
            group.CS = pikepdf.Name(DEVICE[GRAY])
        if "/BC" in mask:
            shades = Shades() if str(group.CS) == DEVICE[GRAY] else paint
            kind, values = KINDS_OF_SIZES.get(len(mask.BC), GRAY), [float(component) for component in mask.BC]
            mask.BC = pikepdf.Array(shades.color(kind, values) or values)

    def _repaint_colors(self, resources: Any, paint: Paint) -> None:
        spaces = resources.get("/ColorSpace")
        if isinstance(spaces, pikepdf.Dictionary) and self._visited.is_new(spaces):
            for name, space in list(spaces.items()):
                if is_palette(space):
                    spaces[name] = self._repaint_palette(space, paint)
        for space in resources_of_kind(resources, "/ColorSpace"):
            self._repaint_spot(space, paint)
        for shading in resources_of_kind(resources, "/Shading"):
            self._repaint_gradient(shading, paint)
        for pattern in resources_of_kind(resources, "/Pattern"):
            self._repaint_pattern(pattern, paint)

    def _repaint_spot(self, space: Any, paint: Paint) -> None:
        if isinstance(space, pikepdf.Array) and len(space) > 3 and self._visited.is_new(space):
            kind = self._find_kind(space[2])
            if str(space[0]) == "/Separation" and kind is not None:
                repaint_tint(self._pdf, space, kind, paint)

    def _repaint_pattern(self, pattern: Any, paint: Paint) -> None:
        if int(pattern.get("/PatternType", 0)) == 2:
            self._repaint_gradient(pattern.Shading, paint)
        elif isinstance(pattern, pikepdf.Stream):
            self._repaint_stream(pattern, pattern.get("/Resources"), paint)

    def _repaint_form(self, form: Any, paint: Paint) -> None:
        self._repaint_stream(form, form.get("/Resources"), paint)

    def _repaint_gradient(self, shading: Any, paint: Paint) -> None:
        kind = self._find_kind(shading.get("/ColorSpace"))
        if kind is not None and self._visited.is_new(shading):
            repaint_gradient(self._pdf, shading, kind, paint)

    def _repaint_picture(self, image: Any, paint: Paint) -> None:
        if not self._visited.is_new(image) or image.get("/ImageMask", False):
            return
        space = image.get("/ColorSpace")
        if is_palette(space):
            image.ColorSpace = self._repaint_palette(space, paint)
            return
        kind = self._find_kind(space)
        if kind is None or (kind == OF_CMYK and paint.target == OF_CMYK):
            return
        if kind == GRAY and (paint.target in {OF_CMYK, GRAY}):
            image.ColorSpace = pikepdf.Name(DEVICE[GRAY])
            return
        if not is_readable(image, kind) or (source := self._decode_picture(image, kind)) is None:
            return
        painted = paint.picture(source, as_jpeg=_is_jpeg(image))
        if painted is not None:
            _write_picture(image, painted, paint.target)

    def _repaint_palette(self, space: Any, paint: Paint) -> Any:
        kind = self._find_kind(space[1])
        return space if kind is None else repaint_palette(space, kind, paint)

    def _decode_picture(self, image: Any, kind: str) -> Image.Image | None:
        if not isinstance(kind, Tagged):
            return decode_picture(image, kind)
        picture = decode_picture(image, OF_RGB)
        return picture and kind.picture(picture)

    def _find_kind(self, space: Any) -> str | None:
        """Finds the kind as `kind_of` does, but RGB with its profile where that is another one than sRGB."""
        kind = kind_of(space)
        of_profile = isinstance(space, pikepdf.Array) and str(space[0]) == "/ICCBased"
        return self._profiles.kind(kind, space[1]) if kind == OF_RGB and of_profile else kind


def _dictionary_number(resources: Any) -> tuple[int, int]:
    """The number of the dictionary that drawings may have together."""
    spaces = resources.get("/ColorSpace")
    return spaces.objgen if spaces is not None and spaces.is_indirect else resources.objgen


def _list_filters(image: Any) -> list[str]:
    filters = image.get("/Filter", pikepdf.Array())
    return [str(name) for name in filters] if isinstance(filters, pikepdf.Array) else [str(filters)]


def is_readable(image: Any, kind: str) -> bool:
    """Whether the format of a picture is supported; its data may still be damaged."""
    names = _list_filters(image)
    if kind == OF_LAB or {"/JPXDecode", "/CCITTFaxDecode", "/JBIG2Decode"} & set(names):
        return False
    is_jpeg = names == ["/DCTDecode"]
    return is_jpeg or ("/DCTDecode" not in names and int(image.get("/BitsPerComponent", 8)) in {8, 16})


def decode_picture(image: Any, kind: str, smallest: tuple[int, int] | None = None) -> Image.Image | None:
    """Decodes the picture; None for an unsupported one, which keeps its own colors with their profile.

    A JPEG that may be made smaller, to no less than `smallest`, is decoded the faster.
    """
    names = _list_filters(image)
    mode = {GRAY: "L", OF_RGB: "RGB", OF_CMYK: "CMYK"}.get(kind)
    if mode is None:
        return None
    try:
        if names == ["/DCTDecode"]:
            picture = jpeg_in(image)
            picture.draft(None, smallest)
            read = picture.convert(mode)
            # Pillow takes all inks of JPEGs to be stored as complements; a PDF says so by its Decode.
            return _in_range(ImageChops.invert(read) if kind == OF_CMYK else read, image.get("/Decode"))
        bits, content = int(image.BitsPerComponent), image.read_bytes()
        if bits == 16:
            content, bits = content[::2], 8
        if bits != 8:
            return None
        read = Image.frombytes(mode, (int(image.Width), int(image.Height)), content)
        return _in_range(read, image.get("/Decode"))
    except (OSError, ValueError, pikepdf.PdfError, Image.DecompressionBombError):
        return None


def _in_range(picture: Image.Image, decode: Any) -> Image.Image:
    """The picture with the ranges that its Decode gives to each of its colors."""
    if decode is None or len(decode) != 2 * len(picture.getbands()):
        return picture
    ends = [float(end) for end in decode]
    ranges = list(zip(ends[::2], ends[1::2], strict=True))
    if all(pair == (0, 1) for pair in ranges):
        return picture
    return picture.point(
        [byte(low + level / 255 * (high - low)) for low, high in ranges for level in range(256)]
    )


def _is_jpeg(image: Any) -> bool:
    return str(image.get("/Filter")) == "/DCTDecode"


def _write_picture(image: Any, picture: Image.Image, target: str) -> None:
    _clear_form(image, target)
    if _is_jpeg(image):
        image.write(jpeg_of(picture), filter=pikepdf.Name.DCTDecode)
        if target == OF_CMYK:
            image.Decode = pikepdf.Array(INVERTED)
    else:
        image.write(zlib.compress(picture.tobytes()), filter=pikepdf.Name.FlateDecode)


def write_plain(image: Any, picture: Image.Image, target: str) -> None:
    """Writes the picture unpacked, for a file that is not kept."""
    _clear_form(image, target)
    image.write(picture.tobytes())


def _clear_form(image: Any, target: str) -> None:
    drop(image, "/Decode", "/DecodeParms", "/Intent")
    image.ColorSpace = pikepdf.Name(DEVICE[target])
    image.BitsPerComponent = 8
