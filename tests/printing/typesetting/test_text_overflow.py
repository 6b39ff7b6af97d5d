"""Texts no box can hold are refused before they are measured, and no text that fits is."""

import pytest

from printing.typesetting import Field, FontSet, ValuesInvalid, parse_template, render_proof, runs
from printing.typesetting.fields import CHARACTERS, MARKS_IN_A_ROW, _count_letters
from printing.typesetting.render_input import RenderInputBuilder
from tests.support.printing.made_templates import card, text_box, words_template

LOREM = "lorem ipsum dolor "


@pytest.fixture
def unmeasured(monkeypatch):
    def refuse(*args):
        raise AssertionError("the text was given to a renderer")

    monkeypatch.setattr(runs.Run, "typeset", refuse)


@pytest.mark.parametrize("fit", ["shrink", "wrap"])
@pytest.mark.parametrize(
    "text",
    [LOREM * 10_900, LOREM * 1_100, "i" * 19_000, "a\n" * 500],
    ids=["185,300 letters", "19,800 letters", "a word", "500 lines"],
)
@pytest.mark.usefixtures("unmeasured")
def test_text_that_cannot_fit_is_refused_unmeasured(fit, text):
    template = words_template(Fit=fit, Size=16, MinimumSize=8, Height=8, Width=50)
    with pytest.raises(ValuesInvalid) as caught:
        render_proof(template, {"Words": text})

    [problem] = caught.value.problems
    assert (problem.pointer, problem.code) == ("/Words", "does_not_fit")


@pytest.mark.parametrize("fit", ["shrink", "wrap", "clip"])
@pytest.mark.parametrize(
    "text",
    ["a" + "\u200b" * CHARACTERS, "a" + "\n" * CHARACTERS, "a" + "\u0301\u0316" * 9_000],
    ids=["no width", "no lines", "marks"],
)
@pytest.mark.usefixtures("unmeasured")
def test_text_without_width_has_a_bound_of_its_own(fit, text):
    with pytest.raises(ValuesInvalid, match=f"more than ({CHARACTERS:,} char|{MARKS_IN_A_ROW} marks)"):
        render_proof(words_template(Fit=fit), {"Words": text})


@pytest.mark.parametrize("fit", ["shrink", "wrap"])
@pytest.mark.parametrize("letter", ["i", "|", "ﷺ", "ffi", "e\u0301", "👨\u200d👩\u200d👧"])
def test_text_that_fits_is_never_refused_unmeasured(fit, letter):
    """Text that is about twice what fits is refused, but only by measuring."""
    box = text_box(Size=3, MinimumSize=3, Height=4, Width=10, Tracking=-0.05, Fit=fit)
    template = parse_template(card(box), [Field("Words")])
    text = letter * 4

    while fits(template, text):
        text += text
    assert len(text) < 20_000
    builder = RenderInputBuilder(template, {}, FontSet.shipped(), for_screen=True)
    assert not builder.build({"Words": text}, {}).problems


@pytest.mark.parametrize(
    "text",
    [
        "-".join(["1234567890"] * 4),
        "/".join(["1234567890"] * 4),
        "-" * 60,
        "Anna\u00a0Maria\u00a0Victoria\u00a0Luise",
    ],
    ids=["hyphens", "slashes", "a line of hyphens", "spaces that hold"],
)
def test_text_that_breaks_nowhere_does_not_stick_out_of_its_box(text):
    template = words_template(Fit="wrap", Size=10, MinimumSize=9, Width=25)

    assert not fits(template, text)
    assert fits(template, text.replace("-", "- ").replace("/", "/ ").replace("\u00a0", " "))


@pytest.mark.parametrize(
    "mark", ["-", "/", "?", "\u2013", "\u2014", "-(", "/[", "\u2013\u201e", "\u2014\u201c", "\u2014'"]
)
def test_text_that_breaks_at_its_marks_fits(mark):
    assert fits(words_template(Fit="wrap", Size=10, MinimumSize=9, Width=25), mark.join(["abcdefghij"] * 4))


@pytest.mark.parametrize(
    "word", ["ประชาสัมพันธ์", "ភាសាខ្មែរ", "မြန်မာဘာသာ", "Bangkokกรุงเทพ", "（（（（（（"], ids=ascii
)
def test_word_of_a_script_without_spaces_does_not_stick_out_of_its_box(word):
    """Where these break is in a dictionary of the typesetter."""
    box = {"Fit": "wrap", "Size": 20, "Width": 15, "Height": 40}

    assert not fits(words_template(**box, MinimumSize=20), word)
    assert fits(words_template(**box, MinimumSize=6), word)


@pytest.mark.parametrize("text", ["zero\u200bwidth\u200bspaces", "soft\u00adhyphens"])
def test_text_with_breaks_inside_of_words_fits(text):
    box = {"Fit": "wrap", "Size": 12, "MinimumSize": 12, "Height": 40}

    assert not fits(words_template(**box, Width=8), text)
    assert fits(words_template(**box, Width=23), text)


@pytest.mark.parametrize("text", ["some words" + " " * 60, "some words" + " " * 60 + "\nand more"])
def test_spaces_at_the_end_of_a_line_need_no_room(text):
    assert fits(words_template(Fit="wrap", Size=10, MinimumSize=10, Width=25), text)


def fits(template, text):
    try:
        render_proof(template, {"Words": text})
    except ValuesInvalid:
        return False
    return True


def test_letters_are_counted_alike_beside_letters_of_all_scripts():
    """A mark has no width itself."""
    letters = [chr(code) for code in range(128)]

    assert [_count_letters(letter) for letter in letters] == [
        _count_letters(f"{letter}\u0301") for letter in letters
    ]
    assert _count_letters("".join(letters)) == 92
