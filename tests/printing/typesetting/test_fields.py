import time

import pytest

from printing.typesetting import Field, ValuesInvalid, resolve_values

# Two marks in the wrong order: to put many of them in order takes quadratic time.
MARKS = "\u0301\u0327"


def problems_of(fields, sent, gallery=()):
    with pytest.raises(ValuesInvalid) as caught:
        resolve_values(fields, sent, gallery)
    return {problem.pointer: problem.code for problem in caught.value.problems}


def test_org_value_wins_over_default_value_and_what_is_sent_over_both():
    fields = [
        Field("A", default_value="d"),
        Field("B", default_value="d", org_value="o"),
        Field("C", org_value="o"),
    ]

    assert resolve_values(fields, {"C": "sent"}) == {"A": "d", "B": "o", "C": "sent"}


def test_field_sent_empty_stays_empty():
    assert resolve_values([Field("A", default_value="d")], {"A": ""}) == {"A": ""}


def test_all_fields_problems_are_reported_at_once():
    fields = [
        Field("Name", required=True),
        Field("Size", type="Choice", sub_type="List", choices=("S", "M")),
        Field("Count"),
        Field("Photo", type="Image", sub_type="Gallery"),
        Field("a/b~c"),
    ]
    sent = {"Name": "  ", "Size": "XL", "Count": 3, "Photo": "Boat", "a/b~c": "one\ntwo", "Extra": ""}

    assert problems_of(fields, sent, ["Barn"]) == {
        "/Extra": "unknown_field",
        "/Name": "required",
        "/Size": "not_a_choice",
        "/Count": "wrong_type",
        "/Photo": "unknown_picture",
        "/a~1b~0c": "line_break",
    }


@pytest.mark.parametrize(
    ("sub_type", "good", "bad"),
    [
        ("Email", "ann.o'neil+x@mail.example.co", "ann@example"),
        ("Email", "jürgen@müller.example", "a b@example.com"),
        ("Phone", "+1 (503) 555-0142 ext. 12", "call me"),
        ("Phone", "020 7946 0018", "12"),
        ("Url", "example.com/menu?x=1", "javascript:alert(1)"),
        ("Url", "https://müller.example:8080/", "https://user@example.com"),
        ("Url", "http://example.com", "ftp://example.com"),
        ("Date", "2027-02-28", "2027-02-30"),
        ("Date", "2028-02-29", "28.02.2027"),
    ],
)
def test_text_is_checked_by_its_sub_type(sub_type, good, bad):
    fields = [Field("F", sub_type=sub_type)]

    assert resolve_values(fields, {"F": good}) == {"F": good}
    assert problems_of(fields, {"F": bad}) == {"/F": f"not_a_{sub_type.lower()}"}


def test_refused_dates_say_how_dates_are_written():
    with pytest.raises(ValuesInvalid) as caught:
        resolve_values([Field("Day", sub_type="Date")], {"Day": "28.02.2027"})

    assert [problem.message for problem in caught.value.problems] == ["Day must be a date as YYYY-MM-DD."]


@pytest.mark.parametrize("prefix", ["", "//", "https://", "https://example.com@"])
def test_addresses_of_many_marks_are_refused_at_once(prefix):
    began = time.thread_time()

    text = f"{prefix}a{MARKS * 45_000}.com"
    assert problems_of([Field("F", sub_type="Url")], {"F": text}) == {"/F": "not_a_url"}
    assert time.thread_time() - began < 0.5


def test_addresses_may_have_long_paths():
    text = f"https://example.com/{'a' * 1_900}"

    assert resolve_values([Field("F", sub_type="Url")], {"F": text}) == {"F": text}


@pytest.mark.parametrize("letter", ["\0", "\x07", "\x1b", "\x7f", "\x85", "\u2028", "\ud800"])
def test_control_characters_are_refused(letter):
    assert problems_of([Field("F", sub_type="MultiLine")], {"F": f"a{letter}b"}) == {
        "/F": "control_character"
    }


INVISIBLE = ["", " ", "\u200b", "\u00ad", "\u3164", "\ufeff \u2060", "\u2800", "\ufe0f", "\u115f\u1160"]


@pytest.mark.parametrize("text", INVISIBLE, ids=ascii)
def test_invisible_text_is_empty(text):
    assert problems_of([Field("F", required=True)], {"F": text}) == {"/F": "required"}
    assert resolve_values([Field("F")], {"F": text}) == {"F": text}
    assert resolve_values([Field("F", required=True)], {"F": f"{text}a{text}"})


def test_line_ends_are_made_one_kind():
    assert resolve_values([Field("F", sub_type="MultiLine")], {"F": "a\r\nb\rc"}) == {"F": "a\nb\nc"}


def test_too_much_text_is_refused():
    fields = [Field("F", sub_type="MultiLine")]

    assert problems_of(fields, {"F": "é" * 100_001}) == {"": "too_large"}
    assert problems_of(fields, {f"name-{number:032}": "" for number in range(6_000)}) == {"": "too_large"}
    assert resolve_values(fields, {"F": "é" * 100_000})
