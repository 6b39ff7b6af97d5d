"""Names of spot colors in print files that contain a customer's PDF."""

import io

import pikepdf

from printing.imposition import spot_plates

TINT = b"<</FunctionType 2 /Domain [0 1] /C0 [0 0 0 0] /C1 [1 0 0 0] /N 1>>"


def test_name_of_other_bytes_than_text_is_no_plate():
    """The order was accepted and paid, and its job failed."""
    with pikepdf.new() as pdf:
        page = pdf.add_blank_page()
        spaces = {
            f"/S{number}": pikepdf.Object.parse(b"[/Separation /%s /DeviceCMYK %s]" % (name, TINT))
            for number, name in enumerate((b"A#ffB", b"Gold"))
        }
        page.obj.Resources = pikepdf.Dictionary(ColorSpace=pikepdf.Dictionary(spaces))
        content = io.BytesIO()
        pdf.save(content)

    assert spot_plates(content.getvalue()) == ("Gold",)
