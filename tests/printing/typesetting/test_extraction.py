"""What is printed can be read out of the PDF again, in every script, as it was sent."""

import unicodedata

import pytest

from printing.typesetting import Field, parse_template, render_print
from tests.support.printing.made_templates import card, text_box, words_template
from tests.support.printing.pdf_reading import written_text


def plain(text):
    """Canonically equal texts are the same; lines may break between words."""
    return "".join(unicodedata.normalize("NFC", text).split())


@pytest.mark.parametrize(
    "text",
    [
        "Zoë Ångström, Nguyễn Thị Hương",
        "Привет Γειά",
        "fi ffl office waffle",
        "e\u0301e q\u030c a\u0323\u0308",
        "שלום עולם",
        "שָׁלוֹם",
        "רחוב הרצל 12, תל אביב",
        "שלום John 123",
        "مرحبا بالعالم",
        "شارع الملك عبد الله، الرياض ١٢٣٤٥",
        "قیمت ۱۲۳ تومان",
        "لا إله",
        "بيت Beit 12",
        "नमस्ते दुनिया",
        "क्षत्रिय श्री हिन्दी",
        "ภาษาไทย",
        "你好，世界",
        "日本語のテキスト",
        "안녕하세요",
        "👍🏽 👩‍👩‍👧 🇩🇪 ❤️ 1️⃣",
    ],
)
def test_text_is_read_back_as_it_was_sent(text):
    printed = render_print(words_template(Fit="wrap", Size=14), {"Words": text})

    assert plain(written_text(printed.pdf)) == plain(text)


@pytest.mark.xfail(
    reason="Typst shows a raised vowel mark by itself, and names the whole letter for both it and its letter.",
    strict=True,
)
def test_arabic_with_vowel_marks_is_read_back_as_it_was_sent():
    text = "السَّلامُ عليكم"
    printed = render_print(words_template(Fit="wrap", Size=14), {"Words": text})

    assert plain(written_text(printed.pdf)) == plain(text)


SCRIPTS = [
    "word",
    *(pytest.param(word, marks=pytest.mark.slow) for word in ("שלום", "مرحبا", "नमस्ते", "世界")),
]


@pytest.mark.parametrize("word", SCRIPTS)
def test_ten_thousand_characters_are_read_back_as_they_were_sent(word):
    """On a poster; what has no room is refused, see test_rendering."""
    text = " ".join(f"{word}{number}" for number in range(10_000))[:10_000]
    box = text_box(Width=980, Height=980, Size=12, Fit="wrap")
    template = parse_template(card(box, WidthMM=1000, HeightMM=1000, Background=None), [Field("Words")])

    read = written_text(render_print(template, {"Words": text}).pdf)

    assert len(text) == 10_000
    assert read == plain(text)
