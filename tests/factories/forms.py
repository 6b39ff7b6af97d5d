"""A PDF with form fields, named as those of a mailing form."""

import io

import pikepdf
from pikepdf import Array, Dictionary, Name, String

ROWS = 2
FIELDS = [
    "Mailer Name",
    "Post Office of Mailing",
    "Mailing Date",
    "Total Pieces",
    "Total Postage",
    "CRID",
    "Method of Payment",
    *(f"{name}{row}" for row in range(1, ROWS + 1) for name in ("ZIP", "Route", "Pieces")),
]


def make_form(*, pages: int = 1) -> bytes:
    output = io.BytesIO()
    with pikepdf.new() as pdf:
        for _ in range(pages):
            pdf.add_blank_page(page_size=(612, 792))
        font = pdf.make_indirect(
            Dictionary(
                Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica, Encoding=Name.WinAnsiEncoding
            )
        )
        fields = [_field(pdf, name, 760 - 20 * number) for number, name in enumerate(FIELDS)]
        pdf.pages[0].Annots = Array(fields)
        pdf.Root.AcroForm = Dictionary(
            Fields=Array(fields), DR=Dictionary(Font=Dictionary(Helv=font)), DA=String("/Helv 10 Tf 0 g")
        )
        pdf.save(output)
    return output.getvalue()


def _field(pdf: pikepdf.Pdf, name: str, top: float) -> pikepdf.Object:
    return pdf.make_indirect(
        Dictionary(
            Type=Name.Annot,
            Subtype=Name.Widget,
            FT=Name.Tx,
            T=String(name),
            Rect=Array([50, top - 16, 400, top]),
            DA=String("/Helv 10 Tf 0 g"),
            F=4,
            P=pdf.pages[0].obj,
        )
    )
