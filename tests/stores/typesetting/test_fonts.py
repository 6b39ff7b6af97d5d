from pathlib import Path

import pytest
import typst

from stores.typesetting import Field, FontInvalid, FontSet, fonts, open_font, parse_template, render_proof
from tests.support.made_templates import card, text_box

TEXT_FAMILIES = {
    "Dancing Script",
    "Inter",
    "Lato",
    "Montserrat",
    "Noto Sans",
    "Oswald",
    "Playfair Display",
    "Source Serif 4",
}


def lato():
    return next(face.path for face in FontSet.shipped().faces if face.family == "Lato" and not face.italic)


def test_shipped_families_are_known_to_typst_by_the_same_names():
    folders = sorted({str(face.path.parent) for face in FontSet.shipped().faces})

    assert FontSet.shipped().families == TEXT_FAMILIES
    assert set(typst.Fonts(False, False, folders).families()) >= TEXT_FAMILIES


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Plain", ("Lato",)),
        ("שלום", ("Lato", "Noto Sans Hebrew")),
        ("مرحبا", ("Lato", "IBM Plex Sans Arabic")),
        ("नमस्ते", ("Lato", "Noto Sans Devanagari")),
        ("日本語です", ("Lato", "Noto Sans CJK JP")),
        ("你好", ("Lato", "Noto Sans CJK SC")),
        ("한글", ("Lato", "Noto Sans CJK KR")),
        ("👩‍👩‍👧 👍🏽", ("Lato", "Noto Emoji")),
        ("q̌", ("Lato", "Noto Sans")),
        ("e\u0301", ("Lato",)),
    ],
)
def test_chain_holds_the_families_a_text_needs(text, expected):
    assert FontSet.shipped().chain("Lato", text) == (expected, None)


def test_font_chain_names_the_first_missing_character():
    assert FontSet.shipped().chain("Lato", "a 𓀀 𒀀")[1] == "𓀀"


def test_uploaded_font_becomes_usable(tmp_path):
    path = tmp_path / "upload.ttf"
    path.write_bytes(lato().read_bytes())

    fonts = FontSet((), ()).with_files([path])
    template = parse_template(card(text_box(Font="Lato")), [Field("Words")], fonts)

    assert open_font(path.read_bytes()) == ("Lato",)
    assert fonts.families == {"Lato"}
    assert render_proof(template, {"Words": "Own font"}, fonts=fonts).pdf.startswith(b"%PDF")


@pytest.mark.parametrize(
    "content",
    [b"", b"\0\1\0\0", b"OTTO" + bytes(400), b"<svg/>", b"ttcf" + b"\xff" * 60],
)
def test_file_that_is_no_font_is_refused(content):
    with pytest.raises(FontInvalid):
        open_font(content)


@pytest.mark.parametrize("cut", [200, 5_000, 30_000])
def test_damaged_font_is_refused(cut):
    content = Path(lato()).read_bytes()[:cut]

    with pytest.raises(FontInvalid):
        open_font(content)


def test_font_that_is_too_large_is_refused_unread(monkeypatch):
    monkeypatch.setattr(fonts, "FONT_BYTES", 1_000_000)

    with pytest.raises(FontInvalid) as caught:
        open_font(b"\0\1\0\0" + bytes(999_997))

    [problem] = caught.value.problems
    assert (problem.code, problem.message) == ("font_too_large", "The file is larger than 1 MB.")
