"""ISO 15930-7 (PDF/X-4) as a table: each rule with a file that keeps it broken on purpose, independent of its writer.

There is no free validator of PDF/X, so the table is short and each rule is proved by its broken file.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import pikepdf
from pikepdf import Array, Dictionary, Name, Stream

BLENDS = {
    *(
        "Normal",
        "Compatible",
        "Multiply",
        "Screen",
        "Overlay",
        "Darken",
        "Lighten",
        "ColorDodge",
        "ColorBurn",
    ),
    *("HardLight", "SoftLight", "Difference", "Exclusion", "Hue", "Saturation", "Color", "Luminosity"),
}
INTENTS = {"/AbsoluteColorimetric", "/RelativeColorimetric", "/Saturation", "/Perceptual"}
SEEN_IN_RGB = re.compile(rb"(?<![\w/.])(?:rg|RG)(?![\w*])")


@dataclass(frozen=True)
class Rule:
    subject: str
    keeps: Callable[[pikepdf.Pdf, bytes], bool]
    breaks: Callable[[pikepdf.Pdf], Any]


def faults(content: bytes) -> list[str]:
    """The subjects of the rules that a file breaks."""
    with pikepdf.open(BytesIO(content)) as pdf:
        return [rule.subject for rule in RULES if not _kept(rule, pdf, content)]


def broken(content: bytes, rule: Rule) -> bytes:
    """The file with this one rule broken."""
    with pikepdf.open(BytesIO(content)) as pdf:
        made = rule.breaks(pdf)
        if isinstance(made, dict):
            return saved(pdf, **made)
        return made if isinstance(made, bytes) else saved(pdf)


def saved(pdf: pikepdf.Pdf, **options: Any) -> bytes:
    out = BytesIO()
    pdf.save(out, **{"fix_metadata_version": False, **options})
    return out.getvalue()


def _kept(rule: Rule, pdf: pikepdf.Pdf, content: bytes) -> bool:
    try:
        return rule.keeps(pdf, content)
    except (AttributeError, KeyError, IndexError, TypeError, ValueError):
        return False


def dictionaries(pdf: pikepdf.Pdf, key: str = "", value: str = "") -> Iterator[Any]:
    """Every dictionary and stream there is, those inside of others included."""
    seen: set[tuple[int, int]] = set()
    for node in pdf.objects:
        yield from _inside(node, seen, key, value)
    yield from _inside(pdf.Root, seen, key, value)


def _inside(node: Any, seen: set[tuple[int, int]], key: str, value: str, depth: int = 0) -> Iterator[Any]:
    if depth > 12 or not isinstance(node, Dictionary | Stream | Array):
        return
    if node.is_indirect:
        if node.objgen in seen:
            return
        seen.add(node.objgen)
    if isinstance(node, Array):
        children = list(node)
    else:
        if not key or str(node.get(key)) == value:
            yield node
        children = [child for name, child in node.items() if name != "/Parent"]
    for child in children:
        yield from _inside(child, seen, key, value, depth + 1)


def xmp(pdf: pikepdf.Pdf) -> str:
    return pdf.Root.Metadata.read_bytes().decode()


def _change_xmp(old: str, new: str) -> Callable[[pikepdf.Pdf], None]:
    def change(pdf: pikepdf.Pdf) -> None:
        text = xmp(pdf)
        assert re.search(old, text), old
        pdf.Root.Metadata.write(re.sub(old, new, text).encode())

    return change


def _intent(pdf: pikepdf.Pdf) -> Any:
    [intent] = [each for each in pdf.Root.OutputIntents if each.S == "/GTS_PDFX"]
    return intent


def _profile(pdf: pikepdf.Pdf) -> bytes:
    return _intent(pdf).DestOutputProfile.read_bytes()


def _boxes_nested(pdf: pikepdf.Pdf, _: bytes) -> bool:
    for page in pdf.pages:
        media, trim = page.mediabox, page.trimbox
        bleed = page.obj.get("/BleedBox", media)
        for outer, inner in ((media, bleed), (bleed, trim)):
            a, b = [float(edge) for edge in outer], [float(edge) for edge in inner]
            if b[0] < a[0] - 0.01 or b[1] < a[1] - 0.01 or b[2] > a[2] + 0.01 or b[3] > a[3] + 0.01:
                return False
    return True


def _fonts_embedded(pdf: pikepdf.Pdf, _: bytes) -> bool:
    return all(
        any(key in node for key in ("/FontFile", "/FontFile2", "/FontFile3"))
        for node in dictionaries(pdf, "/Type", "/FontDescriptor")
    )


def _drop_fonts(pdf: pikepdf.Pdf) -> None:
    for node in dictionaries(pdf, "/Type", "/FontDescriptor"):
        for key in ("/FontFile", "/FontFile2", "/FontFile3"):
            if key in node:
                del node[key]


def _no_key(*keys: str) -> Callable[[pikepdf.Pdf, bytes], bool]:
    return lambda pdf, _: not any(key in node for node in dictionaries(pdf) for key in keys)


def _states(pdf: pikepdf.Pdf) -> Iterator[Any]:
    for page in pdf.pages:
        yield from page.obj.get("/Resources", Dictionary()).get("/ExtGState", Dictionary()).values()
    yield from dictionaries(pdf, "/Type", "/ExtGState")


def _add_state(**values: Any) -> Callable[[pikepdf.Pdf], None]:
    def add(pdf: pikepdf.Pdf) -> None:
        resources = pdf.pages[0].obj.Resources
        if "/ExtGState" not in resources:
            resources.ExtGState = Dictionary()
        resources.ExtGState["/Broken"] = Dictionary(Type=Name.ExtGState, **values)

    return add


def _set_on_page(key: str, value: Any) -> Callable[[pikepdf.Pdf], None]:
    def change(pdf: pikepdf.Pdf) -> None:
        pdf.pages[0].obj[key] = value() if callable(value) else value

    return change


def _add_stream(**values: Any) -> Callable[[pikepdf.Pdf], None]:
    def add(pdf: pikepdf.Pdf) -> None:
        resources = pdf.pages[0].obj.Resources
        if "/XObject" not in resources:
            resources.XObject = Dictionary()
        resources.XObject["/Broken"] = pdf.make_indirect(Stream(pdf, b"", **values))

    return add


def _compress_otherwise(pdf: pikepdf.Pdf) -> bytes:
    """In the bytes: the library would decode it."""
    _add_stream(Filter=Name("/LZWDecodX"))(pdf)
    return saved(pdf).replace(b"/LZWDecodX", b"/LZWDecode")


def _draw(content: bytes) -> Callable[[pikepdf.Pdf], None]:
    return lambda pdf: pdf.pages[0].contents_add(content)


def _streams_without_rgb(pdf: pikepdf.Pdf, _: bytes) -> bool:
    drawn = [page.obj.Contents for page in pdf.pages]
    drawn += [node for node in dictionaries(pdf, "/Subtype", "/Form") if isinstance(node, Stream)]
    return not any(SEEN_IN_RGB.search(_without_strings(stream)) for stream in drawn)


def _rgb_has_a_default(pdf: pikepdf.Pdf, _: bytes) -> bool:
    """Streams in RGB need a DefaultRGB among the resources that hold while they are drawn."""
    for holder in dictionaries(pdf):
        drawn = [holder] if str(holder.get("/Subtype")) == "/Form" or "/PatternType" in holder else []
        drawn += [holder.Contents] if str(holder.get("/Type")) == "/Page" and "/Contents" in holder else []
        drawn += list(holder.CharProcs.values()) if "/CharProcs" in holder else []
        in_rgb = [
            stream
            for stream in drawn
            if isinstance(stream, Stream | Array) and SEEN_IN_RGB.search(_without_strings(stream))
        ]
        spaces = holder.get("/Resources", Dictionary()).get("/ColorSpace", Dictionary())
        if in_rgb and "/DefaultRGB" not in spaces:
            return False
    return True


def _defaults(pdf: pikepdf.Pdf) -> list[Any]:
    return [node["/DefaultRGB"] for node in dictionaries(pdf) if "/DefaultRGB" in node]


def _is_calibrated_rgb(space: Any) -> bool:
    if not isinstance(space, Array):
        return False
    return str(space[0]) == "/CalRGB" or (str(space[0]) == "/ICCBased" and int(space[1].N) == 3)


def _add_default(pdf: pikepdf.Pdf) -> None:
    pdf.pages[0].obj.Resources["/ColorSpace"] = Dictionary(DefaultRGB=Name.DeviceRGB)


def _without_strings(stream: Any) -> bytes:
    parts = list(stream) if isinstance(stream, Array) else [stream]
    content = b"\n".join(part.read_bytes() for part in parts)
    return re.sub(rb"\((?:[^()\\]|\\.)*\)", b"()", content, flags=re.DOTALL)


def _no_device_rgb(pdf: pikepdf.Pdf, _: bytes) -> bool:
    spaces = [node.get("/ColorSpace") for node in dictionaries(pdf)] + [
        node.get("/CS") for node in dictionaries(pdf)
    ]
    named = [
        space
        for node in dictionaries(pdf)
        if isinstance(node.get("/ColorSpace"), Dictionary)
        for space in node.ColorSpace.values()
    ]
    return not any(_is_rgb(color_space) for color_space in [*spaces, *named])


def _is_rgb(space: Any) -> bool:
    if isinstance(space, Array) and len(space) > 1:
        return str(space[1]) == "/DeviceRGB" or (len(space) > 2 and str(space[2]) == "/DeviceRGB")
    return str(space) == "/DeviceRGB" if isinstance(space, Name) else False


def _break_profile(at: int, new: bytes) -> Callable[[pikepdf.Pdf], None]:
    def change(pdf: pikepdf.Pdf) -> None:
        content = bytearray(_profile(pdf))
        content[at : at + len(new)] = new
        _intent(pdf).DestOutputProfile.write(bytes(content))

    return change


def _drop(holder: Callable[[pikepdf.Pdf], Any], key: str) -> Callable[[pikepdf.Pdf], None]:
    def drop(pdf: pikepdf.Pdf) -> None:
        del holder(pdf)[key]

    return drop


def _root(pdf: pikepdf.Pdf) -> Any:
    return pdf.Root


def _set_root(key: str, value: Any) -> Callable[[pikepdf.Pdf], None]:
    def change(pdf: pikepdf.Pdf) -> None:
        pdf.Root[key] = value

    return change


def _info(pdf: pikepdf.Pdf) -> Any:
    return pdf.trailer.Info


def _groups(pdf: pikepdf.Pdf) -> list[Any]:
    return [node.Group for node in dictionaries(pdf) if isinstance(node.get("/Group"), Dictionary)]


ACTION = Dictionary(S=Name.JavaScript, JS="app.alert(1)")
RULES = [
    Rule(
        "the version is 1.6 at most",
        lambda pdf, _: pdf.pdf_version <= "1.6",
        lambda pdf: {"force_version": "1.7"},
    ),
    Rule(
        "the file is not encrypted",
        lambda pdf, _: not pdf.is_encrypted,
        lambda pdf: {"encryption": pikepdf.Encryption(owner="o", user="")},
    ),
    Rule(
        "the file has an ID",
        lambda pdf, content: b"/ID" in content[-2000:],
        lambda pdf: saved(pdf, static_id=True).replace(b"/ID [", b"/XD ["),
    ),
    Rule(
        "the metadata name PDF/X-4",
        lambda pdf, _: "GTS_PDFXVersion" in xmp(pdf) and "PDF/X-4" in xmp(pdf),
        _change_xmp("PDF/X-4", "PDF/X-3"),
    ),
    Rule(
        "the namespace of the identification is npes.org's",
        lambda pdf, _: "http://www.npes.org/pdfx/ns/id/" in xmp(pdf),
        _change_xmp("npes.org/pdfx", "npes.org/other"),
    ),
    Rule(
        "the title is in the metadata",
        lambda pdf, _: "dc:title" in xmp(pdf),
        _change_xmp("dc:title", "dc:other"),
    ),
    Rule(
        "the moment of creation is in the metadata",
        lambda pdf, _: "xmp:CreateDate" in xmp(pdf),
        _change_xmp("xmp:CreateDate", "xmp:Other"),
    ),
    Rule(
        "the moment of the last change is in the metadata",
        lambda pdf, _: "xmp:ModifyDate" in xmp(pdf),
        _change_xmp("xmp:ModifyDate", "xmp:Other"),
    ),
    Rule(
        "Trapped says True or False",
        lambda pdf, _: str(_info(pdf).Trapped) in {"/True", "/False"},
        _drop(_info, "/Trapped"),
    ),
    Rule(
        "there is one output intent for PDF/X",
        lambda pdf, _: _intent(pdf) is not None,
        _drop(_root, "/OutputIntents"),
    ),
    Rule(
        "the output intent names its condition",
        lambda pdf, _: bool(str(_intent(pdf).OutputConditionIdentifier)),
        _drop(_intent, "/OutputConditionIdentifier"),
    ),
    Rule(
        "the profile of the output intent is in the file",
        lambda pdf, _: len(_profile(pdf)) > 128,
        _drop(_intent, "/DestOutputProfile"),
    ),
    Rule(
        "the profile is one of an output device",
        lambda pdf, _: _profile(pdf)[12:16] == b"prtr",
        _break_profile(12, b"mntr"),
    ),
    Rule(
        "the profile has as many colors as the intent says",
        lambda pdf, _: _profile(pdf)[16:20] == b"CMYK" and int(_intent(pdf).DestOutputProfile.N) == 4,
        _break_profile(16, b"RGB "),
    ),
    Rule(
        "each page has a TrimBox",
        lambda pdf, _: all("/TrimBox" in page.obj for page in pdf.pages),
        lambda pdf: pdf.pages[0].obj.__delitem__("/TrimBox"),
    ),
    Rule(
        "no page has an ArtBox beside its TrimBox",
        lambda pdf, _: not any("/ArtBox" in page.obj for page in pdf.pages),
        _set_on_page("/ArtBox", lambda: Array([0, 0, 10, 10])),
    ),
    Rule(
        "trim, bleed and media are inside of each other",
        _boxes_nested,
        _set_on_page("/BleedBox", lambda: Array([-50, -50, 5000, 5000])),
    ),
    Rule("all fonts are embedded", _fonts_embedded, _drop_fonts),
    Rule(
        "nothing is drawn in DeviceRGB without a default for it",
        _rgb_has_a_default,
        _draw(b"q 1 0 0 rg 0 0 1 1 re f Q"),
    ),
    Rule(
        "a default for DeviceRGB has a profile",
        lambda pdf, _: all(_is_calibrated_rgb(default) for default in _defaults(pdf)),
        _add_default,
    ),
    Rule(
        "no color space is DeviceRGB",
        _no_device_rgb,
        lambda pdf: pdf.pages[0].obj.Resources.__setitem__(
            "/ColorSpace", Dictionary(Broken=Array([Name.Indexed, Name.DeviceRGB, 0, pikepdf.String(b"abc")]))
        ),
    ),
    Rule(
        "no group blends in DeviceRGB",
        lambda pdf, _: not any(str(group.get("/CS")) == "/DeviceRGB" for group in _groups(pdf)),
        _set_on_page("/Group", lambda: Dictionary(S=Name.Transparency, CS=Name.DeviceRGB)),
    ),
    Rule(
        "blend modes are those of PDF",
        lambda pdf, _: all(str(state.get("/BM", "/Normal"))[1:] in BLENDS for state in _states(pdf)),
        _add_state(BM=Name("/Broken")),
    ),
    Rule(
        "there are no transfer curves",
        lambda pdf, _: not any("/TR" in state for state in _states(pdf)),
        _add_state(TR=Name.Identity),
    ),
    Rule(
        "a second transfer curve is the default",
        lambda pdf, _: all(str(state.get("/TR2", "/Default")) == "/Default" for state in _states(pdf)),
        _add_state(TR2=Name.Identity),
    ),
    Rule(
        "halftones have no phase",
        lambda pdf, _: not any("/HTP" in state for state in _states(pdf)),
        _add_state(HTP=Array([0, 0])),
    ),
    Rule(
        "rendering intents are those of PDF",
        lambda pdf, _: all(str(state.get("/RI", "/Perceptual")) in INTENTS for state in _states(pdf)),
        _add_state(RI=Name("/Broken")),
    ),
    Rule(
        "nothing happens when it is opened", _no_key("/OpenAction", "/AA"), _set_root("/OpenAction", ACTION)
    ),
    Rule(
        "there is no JavaScript",
        lambda pdf, _: not any(True for _one in dictionaries(pdf, "/S", "/JavaScript")),
        _set_root("/Names", Dictionary(JavaScript=Dictionary(Names=Array(["a", ACTION])))),
    ),
    Rule(
        "there are no form fields", _no_key("/AcroForm"), _set_root("/AcroForm", Dictionary(Fields=Array([])))
    ),
    Rule(
        "no annotations are on the pages",
        lambda pdf, _: not any(len(page.obj.get("/Annots", Array())) for page in pdf.pages),
        _set_on_page(
            "/Annots",
            lambda: Array([Dictionary(Type=Name.Annot, Subtype=Name.Text, Rect=Array([0, 0, 9, 9]))]),
        ),
    ),
    Rule(
        "no stream is in another file",
        lambda pdf, _: not any(isinstance(node, Stream) and "/F" in node for node in dictionaries(pdf)),
        _add_stream(F="other.bin"),
    ),
    Rule(
        "nothing is compressed with LZW",
        lambda pdf, _: (
            not any(
                "/LZWDecode" in str(node.get("/Filter"))
                for node in dictionaries(pdf)
                if isinstance(node, Stream)
            )
        ),
        _compress_otherwise,
    ),
    Rule(
        "there is no PostScript",
        lambda pdf, _: not any(True for _one in dictionaries(pdf, "/Subtype", "/PS")),
        _add_stream(Subtype=Name.PS),
    ),
    Rule(
        "nothing is taken from other PDFs",
        lambda pdf, _: not any("/Ref" in node for node in dictionaries(pdf, "/Subtype", "/Form")),
        _add_stream(Subtype=Name.Form, Ref=Dictionary()),
    ),
    Rule(
        "pictures have no replacements (OPI)",
        _no_key("/OPI"),
        _add_stream(Subtype=Name.Form, OPI=Dictionary()),
    ),
    Rule(
        "pictures have no alternates",
        _no_key("/Alternates"),
        _add_stream(Subtype=Name.Image, Alternates=Array([Dictionary(DefaultForPrinting=True)])),
    ),
]


def kinds_of_color(content: bytes) -> set[str]:
    """The names of all color spaces that a file names, and of the operators that set device colors."""
    with pikepdf.open(BytesIO(content)) as pdf:
        spaces = [node.get(key) for node in dictionaries(pdf) for key in ("/ColorSpace", "/CS")]
        spaces += [member for group in spaces if isinstance(group, Dictionary) for member in group.values()]
        kinds = {
            str(space[0] if isinstance(space, Array) else space)[1:]
            for space in spaces
            if isinstance(space, Name | Array)
        }
        return kinds | (set() if _streams_without_rgb(pdf, content) else {"DeviceRGB"})
