import io
import struct
import subprocess
import sys
from pathlib import Path

import pytest
import typst
from fontTools.ttLib import TTFont, newTable
from fontTools.ttLib.tables.S_V_G_ import SVGDocument
from PIL import Image

from printing.typesetting import (
    Field,
    FontInvalid,
    FontSet,
    fonts,
    open_font,
    parse_template,
    render_print,
    render_proof,
)
from printing.typesetting.fonts import CodePoints
from printing.typesetting.workdir import WorkDir
from tests.support.printing.made_templates import card, text_box
from tests.support.printing.programs import inside, plates

ROOT = Path(__file__).parents[3]
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


def test_shipped_fonts_have_their_licence_beside_them():
    folders = {path.parent for path in fonts.SHIPPED_FONTS.rglob("*.ttf")}

    assert len(folders) == 9
    assert [
        folder.name
        for folder in folders
        if "Open Font License" not in (folder / "LICENSE").read_text("utf-8")
    ] == []


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


@pytest.mark.parametrize("family", ["Lato", "Oswald", "Noto Sans"])
def test_usual_letters_need_the_families_that_they_need_beside_unusual_ones(family):
    """A zero width joiner needs no family of its own, and is none of the usual letters."""
    shown = FontSet.shipped()
    letters = [chr(code) for code in range(0x20, 0x260)]

    assert [shown.chain(family, letter) for letter in letters] == [
        shown.chain(family, f"{letter}\u200d") for letter in letters
    ]


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


@pytest.mark.parametrize("family", ["Own", "Own Black", "Own Condensed", "Own-Light", "Own Variable"])
def test_uploaded_font_is_drawn_whatever_its_family_is_called(tmp_path, family):
    """Typst cuts words of styles off the names of families."""
    with TTFont(lato()) as font:
        font["name"].removeNames(nameID=16)
        for platform in ((3, 1, 0x409), (1, 0, 0)):
            font["name"].setName(family, 1, *platform)
        font.save(path := tmp_path / "upload.ttf")
    fonts = FontSet.shipped().with_files([path])
    template = parse_template(card(text_box(Font=family)), [Field("Words")], fonts)

    page = render_proof(template, {"Words": "Own"}, fonts=fonts, mark=None).pages[0]

    assert Image.open(io.BytesIO(page)).convert("L").getextrema() != (255, 255)


def test_uploaded_font_is_copied_once_for_all_sets_with_it(tmp_path):
    paths = [tmp_path / "one.ttf", tmp_path / "two.ttf"]
    for path in paths:
        path.write_bytes(lato().read_bytes())
    workdir = WorkDir()
    try:
        for count in (1, 2):
            workdir.font_folder(FontSet.shipped().with_files(paths[:count]))

        assert len([file for file in workdir.root.rglob("*.ttf") if not file.is_symlink()]) == 2
    finally:
        workdir.close()


@pytest.mark.parametrize("name", ["ArchivoNarrow-Regular", None])
def test_uploaded_font_is_drawn_whatever_its_postscript_name_is(tmp_path, name):
    """Typst knows some fonts by this name, and gives them families of its own; without one it draws nothing."""
    with TTFont(lato()) as font:
        font["name"].removeNames(nameID=6)
        if name:
            font["name"].setName(name, 6, 3, 1, 0x409)
        for number in (1, 16):
            font["name"].setName("Own Narrow", number, 3, 1, 0x409)
        font.save(path := tmp_path / "upload.ttf")
    fonts = FontSet.shipped().with_files([path])
    template = parse_template(card(text_box(Font="Own Narrow")), [Field("Words")], fonts)

    page = render_proof(template, {"Words": "Own"}, fonts=fonts, mark=None).pages[0]

    assert Image.open(io.BytesIO(page)).convert("L").getextrema() != (255, 255)


def test_uploaded_font_with_pictures_of_some_letters_is_printed_in_its_color(tmp_path):
    """As Source Code Pro 2.030 has them. Typst prints all other letters of such a font in black."""
    with TTFont(lato()) as font:
        font["SVG "] = pictures = newTable("SVG ")
        number = font.getGlyphID("A")
        drawing = (
            f'<svg xmlns="http://www.w3.org/2000/svg"><g id="glyph{number}"><path d="M0 0h9v9z"/></g></svg>'
        )
        pictures.docList = [SVGDocument(drawing, number, number)]
        for name in (1, 16):
            font["name"].setName("Own", name, 3, 1, 0x409)
        font.save(path := tmp_path / "upload.ttf")
    fonts = FontSet.shipped().with_files([path])
    cyan = text_box(Font="Own", Color={"C": 100, "M": 0, "Y": 0, "K": 0})
    template = parse_template(card(cyan), [Field("Words")], fonts)

    plate = plates(tmp_path, render_print(template, {"Words": "Words and A"}, fonts=fonts).pdf)

    assert inside(plate["Cyan"], 12).max() > 0.9
    assert inside(plate["Black"], 12).max() == 0


def letters(attributes, fonts=None, outer=""):
    """The pixels of a card whose background is an SVG with letters."""
    drawing = f'<text x="5" y="20" font-size="8" {attributes}>Own &amp; style="font-family:x"</text>'
    data = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 94.9 56.8"><g {outer}>{drawing}</g></svg>'
    record = card(Background="card.svg")
    record["Artwork"]["card.svg"]["Data"] = data
    template = parse_template(record, [])
    proof = render_proof(template, {}, fonts=fonts or FontSet.shipped(), mark=None)
    return Image.open(io.BytesIO(proof.pages[0])).tobytes()


@pytest.mark.parametrize(
    "attributes", ["", 'font-family="Arial"', "style='font-family:\"Arial\", sans-serif'"]
)
def test_letters_of_an_svg_without_their_font_are_drawn_in_another(attributes):
    assert letters(attributes) == letters('font-family="Inter"')


@pytest.mark.parametrize("attributes", ['font-family="inherit"', 'style="font-family: inherit"'])
def test_letters_of_an_svg_inherit_their_font(attributes):
    assert letters(attributes, outer='font-family="Lato"') == letters('font-family="Lato"')


@pytest.mark.parametrize("attributes", [
    'font-family="Own Black"', "font-family = 'Own Black, Inter'", """font-family="'Own Black'" """,
    'font-family="&quot;Own Black&quot;, serif"', 'style="fill:#000;font-family:Own Black;opacity:1"',
    """style='font-family: "Own Black", Inter'""", 'style="font-family:&apos;Own Black&apos;;opacity:1"',
    'font-family="Arial, Own Black"', 'font-family="&#x27;Own Black&#39;"',
    """aria-label="say font-family='Arial'" font-family="Own Black" """,
])  # fmt: skip
def test_letters_of_an_svg_are_drawn_in_an_uploaded_font(tmp_path, attributes):
    with TTFont(lato().with_name("Lato-Regular.ttf")) as font:
        for number in (1, 16):
            font["name"].setName("Own Black", number, 3, 1, 0x409)
        font.save(path := tmp_path / "upload.ttf")

    drawn = letters(attributes, FontSet.shipped().with_files([path]))

    assert drawn == letters('font-family="Lato"') != letters('font-family="Inter"')


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


@pytest.mark.parametrize("table", [b"OS/2", b"maxp", b"name", b"post"])
def test_font_with_a_table_cut_short_is_refused(table):
    content = Path(lato()).read_bytes()
    place = content.index(table) + 12

    with pytest.raises(FontInvalid):
        open_font(content[:place] + (3).to_bytes(4) + content[place + 4 :])


def with_characters(table):
    """A font with another table of its characters."""
    content = Path(lato()).read_bytes()
    place = content.index(b"cmap") + 8
    return content[:place] + struct.pack(">II", len(content), len(table)) + content[place + 8 :] + table


def ranges_of_characters(count, first, last):
    ends, starts, deltas, offsets = (struct.pack(">H", number) * count for number in (last, first, 0, 0))
    listed = ends + bytes(2) + starts + deltas + offsets
    head = struct.pack(">HHHHHHH", 4, 14 + len(listed), 0, 2 * count, 0, 0, 0)
    return struct.pack(">HHHHI", 0, 1, 3, 1, 12) + head + listed


def test_font_of_hundreds_of_millions_of_characters_holds_up_no_web_process(monkeypatch):
    """In 65 kB: fontTools would read them for three minutes."""
    monkeypatch.setattr(fonts, "READING_SECONDS", 3.0)

    assert open_font(with_characters(ranges_of_characters(2, 0x20, 0x7E))) == ("Lato",)
    with pytest.raises(FontInvalid, match="damaged"):
        open_font(with_characters(ranges_of_characters(8_000, 0, 0xFFFF)))


def test_font_that_is_too_large_is_refused_unread(monkeypatch):
    monkeypatch.setattr(fonts, "FONT_BYTES", 1_000_000)

    with pytest.raises(FontInvalid) as caught:
        open_font(b"\0\1\0\0" + bytes(999_997))

    [problem] = caught.value.problems
    assert (problem.code, problem.message) == ("font_too_large", "The file is larger than 1 MB.")


def test_code_points_are_those_of_the_set():
    found, other = CodePoints({0, 7, 8, 0x5B57, 0x1F600}), CodePoints([7, 0x1F600])

    assert [point for point in (0, 1, 7, 8, 9, 0x5B57, 0x1F600, 0x10FFFF) if point in found] == [
        *(0, 7, 8, 0x5B57, 0x1F600)
    ]
    assert [point for point in (0, 7, 8, 0x1F600) if point in found & other] == [7, 0x1F600]
    assert 0 not in CodePoints()


@pytest.mark.slow
def test_text_that_needs_every_font_leaves_little_memory():
    """As sets of numbers, the letters of all fonts took 20 MB of a web process."""
    code = (
        "from printing.typesetting.fonts import FontSet; import ctypes, gc, pathlib, resource\n"
        "def held():\n"
        "    gc.collect(); ctypes.CDLL(None).malloc_trim(0)\n"
        "    return int(pathlib.Path('/proc/self/statm').read_text().split()[1]) * resource.getpagesize()\n"
        "fonts = FontSet.shipped(); fonts.chain('Lato', 'A'); before = held()\n"
        "print(fonts.chain('Lato', '\\U0010fff0')[1] is not None)\n"
        "print(held() - before)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    is_uncovered, held = done.stdout.split()

    assert is_uncovered == "True"
    assert int(held) < 3_000_000
