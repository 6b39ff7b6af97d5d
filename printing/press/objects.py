"""Objects of a PDF: its resources by kind, its graphics states, and how files are written."""

import zlib
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from typing import Any

import pikepdf

# Colorants without a plate of their own.
PROCESS = frozenset({"All", "None", "Cyan", "Magenta", "Yellow", "Black"})
# A quarter of the time of zlib's default level; the text grows by an eighth, little beside the profile.
PACKING = 2
# For files that are not kept.
UNPACKED = {"compress_streams": False, "stream_decode_level": pikepdf.StreamDecodeLevel.none}


class Visited:
    """Objects that a walk has met. One without a number of its own lies in one place only, so it is always new."""

    def __init__(self) -> None:
        self._numbers: set[tuple[int, int]] = set()

    def is_new(self, item: Any) -> bool:
        if not item.is_indirect:
            return True
        if item.objgen in self._numbers:
            return False
        self._numbers.add(item.objgen)
        return True


def drop(holder: Any, *keys: str) -> None:
    for key in keys:
        if key in holder:
            del holder[key]


def pack_streams(pdf: pikepdf.Pdf) -> None:
    """Compresses the new streams except the metadata, which other programs search as text.

    Other threads go on meanwhile; while the library saves a file, they do not.
    Artwork may be compressed with LZW, which PDF/X-4 forbids.
    """
    for stream in pdf.objects:
        if not isinstance(stream, pikepdf.Stream) or stream.get("/Type") == "/Metadata":
            continue
        if "/Filter" not in stream:
            stream.write(zlib.compress(stream.read_raw_bytes(), PACKING), filter=pikepdf.Name.FlateDecode)
        elif "/LZWDecode" in str(stream.get("/Filter")):
            with suppress(pikepdf.PdfError):
                content = stream.read_bytes(pikepdf.StreamDecodeLevel.generalized)
                stream.write(zlib.compress(content, PACKING), filter=pikepdf.Name.FlateDecode)


def save_pdf(pdf: pikepdf.Pdf, **options: Any) -> bytes:
    out = BytesIO()
    pdf.save(out, **options)
    return out.getvalue()


def image_stream(
    pdf: pikepdf.Pdf, content: bytes, size: tuple[int, int], space: str, compression: str
) -> pikepdf.Stream:
    """A picture with eight bits for each color, of content that is compressed already."""
    width, height = size
    return pikepdf.Stream(
        pdf,
        content,
        Type=pikepdf.Name.XObject,
        Subtype=pikepdf.Name.Image,
        Width=width,
        Height=height,
        BitsPerComponent=8,
        ColorSpace=pikepdf.Name(space),
        Filter=pikepdf.Name(compression),
    )


def get_dictionary(resources: Any, kind: str) -> Any:
    return resources.get(kind, pikepdf.Dictionary())


def resources_of_kind(resources: Any, kind: str) -> Iterator[Any]:
    resources_by_name = resources.get(kind)
    if isinstance(resources_by_name, pikepdf.Dictionary):
        yield from list(resources_by_name.values())


def has_half_clear_state(resources: Any, *keys: str) -> bool:
    """Whether a graphics state sets the opacity of fills (`/ca`) or of strokes (`/CA`) below 1."""
    states = resources_of_kind(resources, "/ExtGState")
    return any(float(state.get(key, 1)) < 1 for state in states for key in keys)


def held_in(pdf: pikepdf.Pdf, kind: str) -> Iterator[tuple[Any, Any]]:
    """Each resources dictionary of this kind, after what has it."""
    for holder in list(pdf.objects):
        if not isinstance(holder, pikepdf.Dictionary | pikepdf.Stream):
            continue
        for resources in (holder, holder.get("/Resources")):
            resources_by_name = resources.get(kind) if isinstance(resources, pikepdf.Dictionary) else None
            if isinstance(resources_by_name, pikepdf.Dictionary):
                yield holder, resources_by_name


def states_of(pdf: pikepdf.Pdf) -> Iterator[Any]:
    """The graphics states of all resources; patterns have one of their own."""
    for holder, states in held_in(pdf, "/ExtGState"):
        of_all = [states] if "/PatternType" in holder else states.values()
        yield from (state for state in of_all if isinstance(state, pikepdf.Dictionary))


def is_plain(state: Any) -> bool:
    """Whether its colors cover what is below."""
    return str(state.get("/BM", "/Normal")) in {"/Normal", "/Compatible"}


def give_resources(pdf: pikepdf.Pdf) -> list[Any]:
    """Gives resources to what has none of its own, because old programs leave forms to those of the page.

    They are those of the page, or of the form, that draws it first. Returns all that draws with resources.
    """
    visited, pending = Visited(), [page.obj for page in reversed(pdf.pages)]
    holders = []
    while pending:
        holder = pending.pop()
        if "/Resources" not in holder:
            continue
        holders.append(holder)
        if not visited.is_new(holder.Resources):
            continue
        for child in (*forms_of(holder.Resources), *drawn_apart(holder.Resources)):
            if "/Resources" not in child:
                if not holder.Resources.is_indirect:
                    holder.Resources = pdf.make_indirect(holder.Resources)
                child.Resources = holder.Resources
            if visited.is_new(child):
                pending.append(child)
    return holders


def drop_unnamed(pdf: pikepdf.Pdf, holders: list[Any]) -> None:
    """Drops pictures, forms, patterns and gradients that the content never names, of a file with masks.

    Ghostscript lists what masks draw in the resources of the page as well, where it would be taken for ink.
    """
    pictures = (item for item in pdf.objects if isinstance(item, pikepdf.Stream))
    if not any("/SMask" in item for item in (*states_of(pdf), *pictures)):
        return
    uses: dict[Any, tuple[Any, set[str]]] = {}
    for number, holder in enumerate(holders):
        resources = holder.Resources
        _, names = uses.setdefault(resources.objgen if resources.is_indirect else number, (resources, set()))
        for stream in streams_of(holder):
            instructions = pikepdf.parse_content_stream(stream, "Do scn SCN sh")
            names |= {str(instruction.operands[-1]) for instruction in instructions if instruction.operands}
    for resources, names in uses.values():
        for kind in ("/XObject", "/Pattern", "/Shading"):
            if isinstance(entries := resources.get(kind), pikepdf.Dictionary):
                named = {name: item for name, item in entries.items() if name in names}
                resources[kind] = pikepdf.Dictionary(named)


def streams_of(holder: Any) -> list[Any]:
    return list(holder.CharProcs.values()) if "/CharProcs" in holder else [holder]


def unwrap_jpegs(pdf: pikepdf.Pdf) -> None:
    """Takes JPEGs out of what they are packed in, such as letters: all readers of pictures expect the JPEG."""
    for stream in list(pdf.objects):
        filters: Any = stream.get("/Filter") if isinstance(stream, pikepdf.Stream) else None
        if not isinstance(filters, pikepdf.Array) or len(filters) < 2 or str(filters[-1]) != "/DCTDecode":
            continue
        packed = pikepdf.Stream(pdf, stream.read_raw_bytes(), Filter=filters[:-1])
        parameters: Any = stream.get("/DecodeParms")
        if isinstance(parameters, pikepdf.Array):
            packed.DecodeParms, parameters = parameters[:-1], parameters[-1]
        content = packed.read_bytes(pikepdf.StreamDecodeLevel.specialized)
        stream.write(content, filter=pikepdf.Name.DCTDecode, decode_parms=parameters)


def forms_of(resources: Any) -> Iterator[Any]:
    for form in resources_of_kind(resources, "/XObject"):
        if isinstance(form, pikepdf.Stream) and str(form.get("/Subtype")) == "/Form":
            yield form


def drawn_apart(resources: Any) -> Iterator[Any]:
    """Patterns, masks and the fonts whose letters are drawn like forms."""
    for pattern in resources_of_kind(resources, "/Pattern"):
        if isinstance(pattern, pikepdf.Stream):
            yield pattern
    for state in resources_of_kind(resources, "/ExtGState"):
        mask = state.get("/SMask")
        if isinstance(mask, pikepdf.Dictionary) and isinstance(mask.get("/G"), pikepdf.Stream):
            yield mask.G
    for font in resources_of_kind(resources, "/Font"):
        if "/CharProcs" in font:
            yield font
