"""PDFs that mean harm or are broken: each number gives the same file again."""

import io
import random
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pikepdf
from pikepdf import Array, Dictionary, Name, Stream

from tests.support.printing.document_making import BLUE, MM, document, written

SECRET = b"SECRET of the machine"
Change = Callable[[pikepdf.Pdf, pikepdf.Object, random.Random], None]


def hostile_documents(count: int, secret: Path) -> Iterator[tuple[str, bytes]]:
    """Every kind in turn; `secret` is a file that none of them may bring to light."""
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        yield f"{kind} {number}", _made(kind, random.Random(number), secret)


def _made(kind: str, chance: random.Random, secret: Path) -> bytes:
    if kind in _CHANGES:
        with pikepdf.open(io.BytesIO(document(pages=2))) as pdf:
            pdf.Root.SecretPath = pikepdf.String(str(secret))
            _CHANGES[kind](pdf, pdf.pages[0].obj, chance)
            # What is packed twice stays so.
            return written(pdf, stream_decode_level=pikepdf.StreamDecodeLevel.none, compress_streams=False)
    content = bytearray(document(pages=2, content=BLUE * 20))
    if kind == "fuzzed":
        for _ in range(chance.randint(1, 60)):
            content[chance.randrange(9, len(content))] = chance.randrange(256)
    elif kind == "cut":
        del content[chance.randrange(20, len(content)) :]
    elif kind == "garbage":
        content = bytearray(b"%PDF-1.7\n" + chance.randbytes(chance.randint(1, 60_000)) + b"\n%%EOF")
    elif kind == "many objects":
        return _many_objects(chance.choice([20_000, 1_000_000]))
    else:
        password = {"user": "user"} if kind == "user password" else {"user": ""}
        with pikepdf.open(io.BytesIO(bytes(content))) as pdf:
            return written(pdf, encryption=pikepdf.Encryption(owner="owner", **password))
    return bytes(content)


def _many_objects(count: int) -> bytes:
    """By hand: the library takes minutes to write as many."""
    out = bytearray(
        b"%PDF-1.7\n1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj\n2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj\n"
    )
    out += b"3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 252 144]>> endobj\n"
    places = [out.index(b"%d 0 obj" % number) for number in (1, 2, 3)]
    for number in range(4, count):
        places.append(len(out))
        out += b"%d 0 obj [%d 0 R] endobj\n" % (number, number - 1)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % count + b"".join(
        b"%010d 00000 n \n" % place for place in places
    )
    return bytes(out + b"trailer <</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (count, start))


def _form(pdf: pikepdf.Pdf, content: bytes, **keys: object) -> pikepdf.Object:
    return pdf.make_indirect(
        Stream(pdf, content, Type=Name.XObject, Subtype=Name.Form, BBox=Array([0, 0, 600, 600]), **keys)
    )


def _draw(page: pikepdf.Object, pdf: pikepdf.Pdf, drawn: pikepdf.Object) -> None:
    page.Resources = Dictionary(XObject=Dictionary(X=drawn))
    page.Contents = pdf.make_stream(b"q 200 0 0 100 0 0 cm /X Do Q /X Do")


def _draws_itself(pdf: pikepdf.Pdf, page: pikepdf.Object, chance: random.Random) -> None:
    form = _form(pdf, b"/X Do")
    form.Resources = Dictionary(XObject=Dictionary(X=form))
    _draw(page, pdf, form)


def _billion_forms(pdf: pikepdf.Pdf, page: pikepdf.Object, chance: random.Random) -> None:
    form = _form(pdf, b"0 0 10 10 re f")
    for _ in range(9):
        form = _form(pdf, b"/X Do " * 10, Resources=Dictionary(XObject=Dictionary(X=form)))
    _draw(page, pdf, form)


def _page_tree_in_a_circle(pdf: pikepdf.Pdf, page: pikepdf.Object, chance: random.Random) -> None:
    pdf.Root.Pages.Kids = Array([pdf.Root.Pages, page])


def _wrong_boxes(pdf: pikepdf.Pdf, page: pikepdf.Object, chance: random.Random) -> None:
    wrong = [
        [0, 0, 0, 0],
        [0, 0, 10**18, 10**18],
        ["a", 0, 1, 1],
        [5],
        [0, 0, -500, 300],
        [10**9, 0, 10**9 + 1, 5],
    ]
    box = Array([Name(f"/{side}") if isinstance(side, str) else side for side in chance.choice(wrong)])
    page[f"/{chance.choice(['MediaBox', 'TrimBox', 'CropBox', 'BleedBox'])}"] = box
    page.UserUnit = chance.choice([0, -1, 10**9, 1])
    page.Rotate = chance.choice([0, 45, 90, -90, 10**9])


def _packed(fill: bytes, megabytes: int) -> bytes:
    """So much of one byte in the format of zlib: each megabyte is packed as the first, so it is packed once."""
    block, packer, check = fill * (1 << 20), zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS), 1
    piece = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    for _ in range(megabytes):
        check = zlib.adler32(block, check)
    return b"\x78\xda" + piece * megabytes + packer.flush() + check.to_bytes(4)


def _zip_bomb(pdf: pikepdf.Pdf, page: pikepdf.Object, chance: random.Random) -> None:
    packed = _packed(b" ", 600)
    if chance.random() < 0.5:
        page.Contents = pdf.make_stream(zlib.compress(packed))
        page.Contents.write(zlib.compress(packed), filter=Array([Name.FlateDecode, Name.FlateDecode]))
    else:
        page.Contents = pdf.make_stream(b"")
        page.Contents.write(packed, filter=Name.FlateDecode)


def _huge_picture(pdf: pikepdf.Pdf, page: pikepdf.Object, chance: random.Random) -> None:
    side = chance.choice([6000, 60_000, 2**31 - 1])
    packed = _packed(b"\0", 110)
    image = Stream(
        pdf, b"", Type=Name.XObject, Subtype=Name.Image, Width=side, Height=side, BitsPerComponent=8
    )
    image.ColorSpace = Name.DeviceRGB
    image.write(packed, filter=Name.FlateDecode)
    _draw(page, pdf, pdf.make_indirect(image))


def _scripts(pdf: pikepdf.Pdf, page: pikepdf.Object, chance: random.Random) -> None:
    script = Dictionary(S=Name.JavaScript, JS=pikepdf.String("app.launchURL('http://127.0.0.1:1/')"))
    pdf.Root.OpenAction = script
    page.AA = Dictionary(O=Dictionary(S=Name.Launch, F=pikepdf.String("/bin/sh")))
    pdf.Root.Names = Dictionary(JavaScript=Dictionary(Names=Array([pikepdf.String("x"), script])))


def _attachments(pdf: pikepdf.Pdf, page: pikepdf.Object, chance: random.Random) -> None:
    pdf.attachments["evil.exe"] = b"MZ" + bytes(1000)


def _external_files(pdf: pikepdf.Pdf, page: pikepdf.Object, chance: random.Random) -> None:
    path = pdf.Root.SecretPath
    form = _form(pdf, b"", F=path, FFilter=Name.ASCIIHexDecode)
    form.Ref = Dictionary(F=path, Page=0)
    form.OPI = Dictionary({"/2.0": Dictionary(Type=Name.OPI, F=path)})
    _draw(page, pdf, form)
    page.Annots = Array(
        [
            Dictionary(
                Type=Name.Annot,
                Subtype=Name.Link,
                Rect=Array([0, 0, 9, 9]),
                A=Dictionary(S=Name.URI, URI=pikepdf.String(f"file://{path}")),
            )
        ]
    )


def _deep_arrays(pdf: pikepdf.Pdf, page: pikepdf.Object, chance: random.Random) -> None:
    depth = chance.choice([400, 20_000])
    page.Contents = pdf.make_stream(b"[" * depth + b"]" * depth + b" TJ " + b"q " * depth + BLUE)


def _many_operators(pdf: pikepdf.Pdf, page: pikepdf.Object, chance: random.Random) -> None:
    page.Contents = pdf.make_stream(b"1 0 0 1 0 0 cm 0 0 m 9 9 l S " * chance.choice([20_000, 60_000]))


def _hostile_annotations(pdf: pikepdf.Pdf, page: pikepdf.Object, chance: random.Random) -> None:
    look = _form(pdf, b"/X Do")
    look.Resources = Dictionary(XObject=Dictionary(X=look))
    annotation = Dictionary(
        Type=Name.Annot, Subtype=Name.Stamp, Rect=Array([0, 0, 10**18, 9]), AP=Dictionary(N=look)
    )
    page.Annots = Array([pdf.make_indirect(annotation) for _ in range(20)])


def _layers_in_a_circle(pdf: pikepdf.Pdf, page: pikepdf.Object, chance: random.Random) -> None:
    layer = pdf.make_indirect(Dictionary(Type=Name.OCMD))
    layer.VE = Array([Name.Not, layer.VE]) if "/VE" in layer else Array([Name.Not, layer])
    page.Resources = Dictionary(Properties=Dictionary(L=layer))
    page.Contents = pdf.make_stream(b"/OC /L BDC " + BLUE + b" EMC")
    pdf.Root.OCProperties = Dictionary(OCGs=Array([layer]), D=Dictionary(OFF=Array([layer, 5])))


def _endless_pattern(pdf: pikepdf.Pdf, page: pikepdf.Object, chance: random.Random) -> None:
    tile = Stream(pdf, b"0 0 1 1 re f", Type=Name.Pattern, PatternType=1, PaintType=1, TilingType=1)
    tile.BBox, tile.XStep, tile.YStep = Array([0, 0, 1, 1]), 0.0001, chance.choice([0, 0.0001, -1])
    tile.Resources = Dictionary()
    page.Resources = Dictionary(Pattern=Dictionary(P=pdf.make_indirect(tile)))
    page.Contents = pdf.make_stream(b"/Pattern cs /P scn 0 0 %d 100 re f" % (90 * MM))


def _long_chain(pdf: pikepdf.Pdf, page: pikepdf.Object, chance: random.Random) -> None:
    last = pdf.make_indirect(Dictionary(A=1))
    for _ in range(chance.choice([2000, 30_000])):
        last = pdf.make_indirect(Dictionary(N=last))
    page.Resources = Dictionary(ExtGState=Dictionary(G=Dictionary(Type=Name.ExtGState, X=last)))


_CHANGES: dict[str, Change] = {
    "form that draws itself": _draws_itself,
    "billion forms": _billion_forms,
    "page tree in a circle": _page_tree_in_a_circle,
    "wrong boxes": _wrong_boxes,
    "zip bomb": _zip_bomb,
    "huge picture": _huge_picture,
    "scripts": _scripts,
    "attachments": _attachments,
    "external files": _external_files,
    "deep arrays": _deep_arrays,
    "many operators": _many_operators,
    "hostile annotations": _hostile_annotations,
    "layers in a circle": _layers_in_a_circle,
    "endless pattern": _endless_pattern,
    "long chain": _long_chain,
}
KINDS = [*_CHANGES, "fuzzed", "cut", "user password", "owner password", "many objects", "garbage"]
