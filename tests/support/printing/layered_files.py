"""PDFs with hidden layers and passwords."""

import io

import pikepdf
from pikepdf import Array, Dictionary, Name

from tests.support.printing.pdf_making import one_page

RED, BLUE = b"1 0 0 rg 0 0 50 100 re f", b"0 0 1 rg 50 0 50 100 re f"


def changed(content, change):
    """The PDF after `change(pdf, page)`."""
    with pikepdf.open(io.BytesIO(content)) as pdf:
        change(pdf, pdf.pages[0].obj)
        out = io.BytesIO()
        pdf.save(out)
    return out.getvalue()


def layered(inner, *, default=None, usage=None, as_rule=None):
    """Red, and below the layer L blue; `default` is the configuration, of which {L} is the layer."""
    content = one_page(RED + b"\n/OC /L BDC\n" + inner + b"\nEMC\n", (100, 100))

    def add(pdf, page):
        layer = pdf.make_indirect(
            Dictionary(Type=Name.OCG, Name="Die line", **({"Usage": usage} if usage else {}))
        )
        page.Resources = Dictionary(Properties=Dictionary(L=as_rule(layer) if as_rule else layer))
        pdf.Root.OCProperties = Dictionary(
            OCGs=Array([layer]), D=Dictionary(**(default(layer) if default else {}))
        )

    return changed(content, add)


def off(layer):
    return {"OFF": Array([layer])}


def encrypted(**passwords):
    with pikepdf.open(io.BytesIO(one_page(RED, (100, 100)))) as pdf:
        out = io.BytesIO()
        pdf.save(out, encryption=pikepdf.Encryption(**passwords))
    return out.getvalue()


HIDDEN = {
    "off in the default configuration": layered(BLUE, default=off),
    "all off but those named": layered(BLUE, default=lambda _: {"BaseState": Name.OFF}),
    "never printed": layered(BLUE, usage=Dictionary(Print=Dictionary(PrintState=Name.OFF))),
    "off on screens": layered(
        BLUE,
        usage=Dictionary(View=Dictionary(ViewState=Name.OFF)),
        default=lambda layer: {
            "AS": Array([Dictionary(Event=Name.View, OCGs=Array([layer]), Category=Array([Name.View]))])
        },
    ),
    "by a rule": layered(BLUE, default=off, as_rule=lambda layer: Dictionary(Type=Name.OCMD, OCGs=layer)),
    "by an expression": layered(
        BLUE, as_rule=lambda layer: Dictionary(Type=Name.OCMD, VE=Array([Name.Not, layer]))
    ),
    "text": layered(b"BT /F1 90 Tf 50 10 Td (X) Tj (X) ' 1 1 (X) \" [(X)] TJ ET", default=off),
    "nested": layered(b"/Span BMC " + BLUE + b" EMC " + BLUE, default=off),
}
