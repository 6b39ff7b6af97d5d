import io

import pytest
import zxingcpp
from PIL import Image

from printing.barcodes import code_128_runs
from printing.typesetting import Field, ValuesInvalid, parse_template, render_proof

PAGE = {
    "WidthMM": 100,
    "HeightMM": 50,
    "Boxes": [
        {"Field": "QR", "Kind": "QRCode", "X": 5, "Y": 5, "Width": 35, "Height": 35},
        {"Field": "Bar", "Kind": "Code128", "X": 45, "Y": 10, "Width": 50, "Height": 15},
    ],
}
TEMPLATE = parse_template({"Pages": [PAGE]}, [Field("QR"), Field("Bar")])


@pytest.mark.parametrize(
    ("qr", "bar"),
    [
        ("https://example.com/menu", "Wikipedia"),
        ("grüße 你好", "ORD-1234567890"),
        ("1", "1234567"),
        ("£5", "5 GBP"),
        ("50 °C", "50 C"),
        ("x" * 200, "~!@ 12345678 abc"),
    ],
)
def test_codes_read_back_what_was_sent(qr, bar):
    page = render_proof(TEMPLATE, {"QR": qr, "Bar": bar}, mark=None).pages[0]

    picture = Image.open(io.BytesIO(page)).convert("RGB")
    picture = picture.resize((picture.width * 2, picture.height * 2))
    assert {code.text for code in zxingcpp.read_barcodes(picture)} == {qr, bar}


def test_code_128_of_digits_uses_the_short_set():
    assert code_128_runs("12345678")[0] < code_128_runs("abcdefgh")[0]


@pytest.mark.parametrize(
    ("values", "pointer", "code"),
    [
        ({"Bar": "grün"}, "/Bar", "not_encodable"),
        ({"Bar": "x" * 81}, "/Bar", "not_encodable"),
        ({"Bar": "x" * 60}, "/Bar", "code_too_dense"),
        ({"QR": "x" * 1500}, "/QR", "code_too_dense"),
        ({"QR": "x" * 5000}, "/QR", "not_encodable"),
    ],
)
def test_unencodable_value_is_refused(values, pointer, code):
    with pytest.raises(ValuesInvalid) as caught:
        render_proof(TEMPLATE, values)

    assert [(problem.pointer, problem.code) for problem in caught.value.problems] == [(pointer, code)]
