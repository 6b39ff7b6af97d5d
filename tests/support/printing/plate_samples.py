"""Artwork PDFs of a card that are hard to proof: what blends, hides, overprints, or is in colors of all kinds."""

import base64
import io
from collections.abc import Callable
from typing import Any

import pikepdf
from pikepdf import Array, Dictionary, Name
from PIL import Image

from printing.press.profiles import SHIPPED

POINTS = 72 / 25.4
SIZE = (94.9 * POINTS, 56.8 * POINTS)
BACK = b"1 0 0 0 k 0 0 140 170 re f 0 .6 .2 0 k 140 0 140 170 re f 0 0 0 .3 k 0 60 280 20 re f\n"
OVER = b"0 .2 1 0 k 70 30 140 100 re f\n"
BLENDS = (
    *("Multiply", "Screen", "Overlay", "Darken", "Lighten", "ColorDodge", "ColorBurn"),
    *("HardLight", "SoftLight", "Difference", "Exclusion"),
)
CMYK = Name.DeviceCMYK


def made(content: bytes, change: Callable[[Any, Any], None] | None = None, **resources: Any) -> bytes:
    with pikepdf.new() as pdf:
        page = pdf.add_blank_page(page_size=SIZE).obj
        page.Contents, page.Resources = pdf.make_stream(content), Dictionary(**resources)
        if change is not None:
            change(pdf, page)
        out = io.BytesIO()
        pdf.save(out, static_id=True)
    return out.getvalue()


def _state(**entries: Any) -> dict[str, Any]:
    return {"ExtGState": Dictionary(GS=Dictionary(**entries))}


def _over(**entries: Any) -> bytes:
    return made(BACK + b"/GS gs " + OVER, **_state(**entries))


def _spot(name: str, function: Any, alternate: Any = CMYK) -> Array:
    return Array([Name.Separation, Name(f"/{name}"), alternate, function])


def _exponential(*inks: float) -> Dictionary:
    return Dictionary(FunctionType=2, Domain=[0, 1], C0=[0] * len(inks), C1=list(inks), N=1)


def _calculated(pdf: Any, code: bytes, inputs: int, outputs: int = 4) -> Any:
    return pdf.make_stream(b"{" + code + b"}", FunctionType=4, Domain=[0, 1] * inputs, Range=[0, 1] * outputs)


def _in_space(space: Callable[[Any], Any], color: bytes) -> bytes:
    def change(pdf: Any, page: Any) -> None:
        page.Resources = Dictionary(ColorSpace=Dictionary(CS=space(pdf)))

    return made(BACK + b"/CS cs " + color + b" 70 30 140 100 re f", change)


def _picture(
    image: Image.Image, *, decode: list[int] | None = None, space: Any = None, **saved: Any
) -> bytes:
    packed = io.BytesIO()
    image.save(packed, "JPEG", **saved)
    spaces = {"L": Name.DeviceGray, "RGB": Name.DeviceRGB, "CMYK": CMYK}
    entries = {"Decode": decode} if decode else {}

    def change(pdf: Any, page: Any) -> None:
        stream = pdf.make_stream(
            packed.getvalue(),
            Type=Name.XObject,
            Subtype=Name.Image,
            Width=image.width,
            Height=image.height,
            BitsPerComponent=8,
            Filter=Name.DCTDecode,
            ColorSpace=space or spaces[image.mode],
            **entries,
        )
        page.Resources = Dictionary(XObject=Dictionary(I=stream))

    return made(BACK + b"q 140 0 0 100 70 30 cm /I Do Q", change)


def _ramp(mode: str, *ends: tuple[int, int]) -> Image.Image:
    base = Image.linear_gradient("L").resize((280, 200))
    bands = [
        base.point([round(low + (high - low) * level / 255) for level in range(256)]) for low, high in ends
    ]
    return bands[0] if mode == "L" else Image.merge(mode, bands)


def _plain_picture(
    samples: bytes, size: tuple[int, int], bits: int, space: Callable[[Any], Any], **more: Any
) -> bytes:
    def change(pdf: Any, page: Any) -> None:
        entries = {key: value(pdf) if callable(value) else value for key, value in more.items()}
        stream = pdf.make_stream(
            samples,
            Type=Name.XObject,
            Subtype=Name.Image,
            Width=size[0],
            Height=size[1],
            BitsPerComponent=bits,
            ColorSpace=space(pdf),
            **entries,
        )
        page.Resources = Dictionary(XObject=Dictionary(I=stream))

    return made(BACK + b"q 140 0 0 100 70 30 cm /I Do Q", change)


def _group(
    space: Any,
    inner: bytes,
    *,
    before: bytes = b"",
    isolated: bool = True,
    knockout: bool = False,
    **state: Any,
) -> bytes:
    def change(pdf: Any, page: Any) -> None:
        entries = {"CS": space} if space is not None else {}
        group = Dictionary(S=Name.Transparency, I=isolated, K=knockout, **entries)
        form = pdf.make_stream(
            inner,
            Type=Name.XObject,
            Subtype=Name.Form,
            BBox=[0, 0, 300, 170],
            Group=group,
            Resources=Dictionary(ExtGState=Dictionary(M=Dictionary(BM=Name.Multiply), H=Dictionary(ca=0.5))),
        )
        page.Resources = Dictionary(XObject=Dictionary(F=form), ExtGState=Dictionary(GS=Dictionary(**state)))

    return made(BACK + before + b"/F Do", change)


def _masked(kind: Any, space: Any, inner: bytes, **more: Any) -> bytes:
    def change(pdf: Any, page: Any) -> None:
        form = pdf.make_stream(
            inner,
            Type=Name.XObject,
            Subtype=Name.Form,
            BBox=[0, 0, 300, 170],
            Group=Dictionary(S=Name.Transparency, **({"CS": space} if space is not None else {})),
        )
        mask = Dictionary(Type=Name.Mask, S=kind, G=form, **more)
        page.Resources = Dictionary(ExtGState=Dictionary(GS=Dictionary(SMask=mask)))

    return made(BACK + b"/GS gs " + OVER, change)


def _shaded(**shading: Any) -> bytes:
    entry = Dictionary(**shading)
    return made(BACK + b"q 70 30 140 100 re W n /S sh Q", Shading=Dictionary(S=entry))


def _layer(*, by: str, inner: bytes = OVER) -> bytes:
    def change(pdf: Any, page: Any) -> None:
        usage: dict[str, Any] = (
            {"Usage": Dictionary(Print=Dictionary(PrintState=Name.OFF))} if by == "usage" else {}
        )
        layer = pdf.make_indirect(Dictionary(Type=Name.OCG, Name="Fold", **usage))
        default: dict[str, Any] = {"OFF": Array([layer])} if by == "default" else {}
        pdf.Root.OCProperties = Dictionary(OCGs=Array([layer]), D=Dictionary(**default))
        form = pdf.make_stream(inner, Type=Name.XObject, Subtype=Name.Form, BBox=[0, 0, 300, 170], OC=layer)
        rule = Dictionary(Type=Name.OCMD, OCGs=Array([layer]), P=Name.AllOn)
        page.Resources = Dictionary(Properties=Dictionary(L=layer, R=rule), XObject=Dictionary(F=form))

    return made(BACK + b"/OC /L BDC " + inner + b" EMC /OC /R BDC " + inner + b" EMC /F Do", change)


def _tiled() -> bytes:
    def change(pdf: Any, page: Any) -> None:
        tile = pdf.make_stream(
            b"0 .8 1 0 k 0 0 30 30 re f",
            PatternType=1,
            PaintType=1,
            TilingType=1,
            BBox=[0, 0, 60, 60],
            XStep=60,
            YStep=60,
            Resources=Dictionary(),
        )
        page.Resources = Dictionary(Pattern=Dictionary(P=tile))

    return made(BACK + b"/Pattern cs /P scn 70 30 140 100 re f", change)


def _stamped(*, overprints: bool) -> bytes:
    def change(pdf: Any, page: Any) -> None:
        state = Dictionary(op=overprints, OP=overprints, OPM=1)
        look = pdf.make_stream(
            b"/GS gs 0 .2 1 0 k 0 0 140 100 re f",
            Subtype=Name.Form,
            BBox=[0, 0, 140, 100],
            Resources=Dictionary(ExtGState=Dictionary(GS=state)),
        )
        note = Dictionary(
            Type=Name.Annot, Subtype=Name.Stamp, Rect=[70, 30, 210, 130], F=4, AP=Dictionary(N=look)
        )
        page.Annots = Array([pdf.make_indirect(note)])

    return made(BACK, change)


def _profile(content: bytes, count: int) -> Callable[[Any], Any]:
    return lambda pdf: Array([Name.ICCBased, pdf.make_stream(content, N=count)])


def samples() -> dict[str, bytes]:
    """Sixty files by name."""
    dark = _ramp("CMYK", (249, 240), (244, 200), (242, 100), (242, 242))
    light = _ramp("CMYK", (0, 200), (180, 0), (40, 90), (0, 60))
    ramp = _ramp("RGB", (0, 255), (200, 40), (30, 160))
    red = Dictionary(FunctionType=2, Domain=[0, 1], C0=[0.1, 0.9, 0.8, 0], C1=[0.9, 0.1, 0, 0.2], N=1)
    rgb = Dictionary(FunctionType=2, Domain=[0, 1], C0=[0.9, 0.2, 0.1], C1=[0.1, 0.4, 0.8], N=1)
    clear = Image.linear_gradient("L").resize((140, 100)).tobytes()
    lab = Array([Name.Lab, Dictionary(WhitePoint=[0.9642, 1, 0.8249], Range=[-128, 127, -128, 127])])
    cal = Array([Name.CalRGB, Dictionary(WhitePoint=[0.9505, 1, 1.089], Gamma=[2.2, 2.2, 2.2])])
    masking = b".2 g 0 0 300 170 re f .9 g 90 50 100 60 re f"
    mesh = b"".join(
        bytes([0]) + x.to_bytes(2) + y.to_bytes(2) + bytes(inks)
        for x, y, inks in ((0, 0, (255, 0, 0, 0)), (65535, 0, (0, 255, 0, 0)), (0, 65535, (0, 0, 255, 40)))
    )
    overprinting = {
        f"overprint {name}": _over(**state)
        for name, state in dict[str, dict[str, Any]](
            {
                "fill": {"op": True, "OP": True, "OPM": 1},
                "all components": {"op": True, "OP": True, "OPM": 0},
                "by OP alone": {"OP": True},
                "multiplied": {"op": True, "BM": Name.Multiply},
            }
        ).items()
    }
    return {
        **{f"layer by {by}": _layer(by=by) for by in ("default", "usage", "nothing")},
        "layer by default, blending": _layer(by="default", inner=b"/GS gs " + OVER),
        **overprinting,
        "overprint stroke": made(
            BACK + b"/GS gs 0 0 1 0 K 9 w 60 40 m 220 120 l S", **_state(OP=True, OPM=1)
        ),
        "overprint black": made(BACK + b"/GS gs 0 0 0 1 k 60 40 100 60 re f", **_state(op=True, OPM=1)),
        "overprint in a stamp": _stamped(overprints=True),
        "stamp": _stamped(overprints=False),
        **{f"blend {name}": _over(BM=Name(f"/{name}")) for name in BLENDS},
        "alpha": _over(ca=0.4),
        "alpha stroke": made(BACK + b"/GS gs 0 0 1 0 K 9 w 60 40 m 220 120 l S", **_state(CA=0.5)),
        "group RGB": _group(Name.DeviceRGB, b"/H gs " + OVER, before=b"/GS gs ", ca=0.7),
        "group gray": _group(Name.DeviceGray, OVER, before=b"/GS gs ", BM=Name.Multiply),
        "group not isolated": _group(CMYK, b"/M gs " + OVER, isolated=False),
        "group isolated": _group(CMYK, b"/M gs " + OVER + b"1 0 0 0 k 90 40 50 50 re f"),
        "group knockout": _group(CMYK, OVER + b"/H gs 1 0 0 0 k 90 40 50 50 re f", knockout=True),
        "group without a space": _group(None, OVER, before=b"/GS gs ", ca=0.5),
        "spot": _in_space(lambda _: _spot("Gold", _exponential(0, 0.3, 0.8, 0.2)), b".8 scn"),
        "spot by a program": _in_space(
            lambda pdf: _spot("Ochre", _calculated(pdf, b"dup .3 mul exch dup .5 mul exch .9 mul 0", 1)),
            b".7 scn",
        ),
        "spot by a table": _in_space(
            lambda pdf: _spot(
                "Sand",
                pdf.make_stream(
                    bytes([0, 0, 0, 0, 20, 90, 200, 40]),
                    FunctionType=0,
                    Domain=[0, 1],
                    Range=[0, 1] * 4,
                    Size=[2],
                    BitsPerSample=8,
                ),
            ),
            b".6 scn",
        ),
        "spot in RGB": _in_space(
            lambda _: _spot("Teal", _exponential(0.1, 0.5, 0.6), Name.DeviceRGB), b"1 scn"
        ),
        "spot in Lab": _in_space(lambda _: _spot("Rust", _exponential(50, 40, 30), lab), b"1 scn"),
        "spot multiplied": made(
            BACK + b"/GS gs /CS cs 1 scn 70 30 140 100 re f",
            ExtGState=Dictionary(GS=Dictionary(BM=Name.Multiply)),
            ColorSpace=Dictionary(CS=_spot("Cyan", _exponential(1, 0, 0, 0))),
        ),
        "spot of no plate": _in_space(lambda _: _spot("None", _exponential(0, 1, 1, 0)), b"1 scn"),
        "DeviceN": _in_space(
            lambda pdf: Array(
                [
                    Name.DeviceN,
                    [Name.Gold, Name.Rust],
                    CMYK,
                    _calculated(pdf, b".5 mul exch .6 mul 0 3 1 roll 0", 2),
                ]
            ),
            b".7 .5 scn",
        ),
        "DeviceN of the process": _in_space(
            lambda pdf: Array(
                [Name.DeviceN, [Name.Cyan, Name.Black], CMYK, _calculated(pdf, b"0 0 3 2 roll", 2)]
            ),
            b".7 .2 scn",
        ),
        "Lab": _in_space(lambda _: lab, b"60 40 -30 sc"),
        "CalRGB": _in_space(lambda _: cal, b".8 .3 .1 sc"),
        "gray": made(BACK + b".4 g 70 30 140 100 re f"),
        "RGB": made(BACK + b".2 .6 .3 rg 70 30 140 100 re f"),
        "CMYK of the profile": _in_space(_profile(SHIPPED.read_bytes(), 4), b".2 .6 .3 .1 sc"),
        "mask by luminosity": _masked(Name.Luminosity, Name.DeviceGray, masking),
        "mask by luminosity of RGB": _masked(
            Name.Luminosity, Name.DeviceRGB, b".1 .7 .3 rg 0 0 300 170 re f"
        ),
        "mask by alpha": _masked(Name.Alpha, Name.DeviceGray, b"0 g 90 50 100 60 re f"),
        "mask with a backdrop": _masked(Name.Luminosity, Name.DeviceGray, b"1 g 90 50 100 60 re f", BC=[0.5]),
        "mask with a backdrop of inks": _masked(
            Name.Luminosity, CMYK, b"0 0 0 1 k 90 50 100 60 re f", BC=[0, 0, 0, 0.2]
        ),
        "mask of a group without a space": _masked(Name.Luminosity, None, b"1 1 1 rg 90 50 100 60 re f"),
        "palette of RGB": _in_space(
            lambda _: Array(
                [Name.Indexed, Name.DeviceRGB, 1, pikepdf.String(bytes([255, 0, 0, 220, 30, 40]))]
            ),
            b"1 sc",
        ),
        "picture of a palette of Lab": _plain_picture(
            bytes([at // 70 for at in range(140)] * 100),
            (140, 100),
            8,
            lambda _: Array([Name.Indexed, lab, 1, pikepdf.String(bytes([153, 88, 178, 200, 148, 90]))]),
        ),
        "mask of a picture": _plain_picture(
            bytes([30, 120, 200, 10]) * 14_000,
            (140, 100),
            8,
            lambda _: CMYK,
            SMask=lambda pdf: pdf.make_stream(
                clear,
                Type=Name.XObject,
                Subtype=Name.Image,
                Width=140,
                Height=100,
                BitsPerComponent=8,
                ColorSpace=Name.DeviceGray,
            ),
        ),
        "black generation": _over(UCR2=Name.Default, BG2=Name.Default, TR2=Name.Default),
        "transfer": made(
            BACK + b"/GS gs " + OVER,
            **_state(TR=Dictionary(FunctionType=2, Domain=[0, 1], N=1, C0=[1], C1=[0])),
        ),
        "JPEG of 383 % ink": _picture(dark, decode=[1, 0] * 4, quality=95, subsampling=0),
        "JPEG in inks": _picture(light, decode=[1, 0] * 4, quality=95, subsampling=0),
        "JPEG in inks as stored": _picture(
            light.point([255 - level for level in range(256)] * 4), quality=95
        ),
        "JPEG in inks with a profile": _picture(light, decode=[1, 0] * 4, quality=95, subsampling=0),
        "JPEG in gray": _picture(_ramp("L", (0, 255)), quality=95),
        "JPEG in RGB": _picture(ramp, quality=95, subsampling=0),
        "JPEG in RGB, turned over": _picture(ramp, decode=[1, 0] * 3, quality=95, subsampling=0),
        "picture of a palette": _plain_picture(
            bytes([at // 35 for at in range(140)] * 100),
            (140, 100),
            8,
            lambda _: Array(
                [
                    Name.Indexed,
                    CMYK,
                    3,
                    pikepdf.String(bytes([255, 0, 0, 0, 0, 200, 0, 0, 0, 0, 99, 0, 9, 9, 9, 99])),
                ]
            ),
        ),
        "picture of bits": _plain_picture(bytes([0xF0, 0x0F] * 450), (64, 100), 1, lambda _: Name.DeviceGray),
        "picture of a spot": _plain_picture(
            clear, (140, 100), 8, lambda _: _spot("Gold", _exponential(0, 0.3, 0.8, 0.2))
        ),
        "gradient": _shaded(
            ShadingType=2, ColorSpace=CMYK, Coords=[70, 0, 210, 0], Function=red, Extend=[True, True]
        ),
        "gradient in RGB": _shaded(
            ShadingType=3,
            ColorSpace=Name.DeviceRGB,
            Coords=[140, 80, 10, 140, 80, 70],
            Function=rgb,
            Extend=[True, True],
        ),
        "gradient of a spot": _shaded(
            ShadingType=2,
            ColorSpace=_spot("Gold", _exponential(0, 0.3, 0.8, 0.2)),
            Coords=[70, 0, 210, 0],
            Function=Dictionary(FunctionType=2, Domain=[0, 1], C0=[0], C1=[1], N=1),
            Extend=[True, True],
        ),
        "mesh": made(
            BACK + b"/S sh",
            lambda pdf, page: page.Resources.update(
                {
                    "/Shading": Dictionary(
                        S=pdf.make_stream(
                            mesh,
                            ShadingType=4,
                            ColorSpace=CMYK,
                            BitsPerCoordinate=16,
                            BitsPerComponent=8,
                            BitsPerFlag=8,
                            Decode=[70, 210, 30, 130, *([0, 1] * 4)],
                        )
                    )
                }
            ),
        ),
        "pattern": _tiled(),
    }


def artwork(content: bytes) -> dict[str, Any]:
    return {"MediaType": "application/pdf", "Data": base64.b64encode(content).decode()}
