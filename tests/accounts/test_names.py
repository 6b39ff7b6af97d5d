"""User names: which are refused and why, and when two are the same."""

import re

import pytest
from django.core.exceptions import ValidationError
from hypothesis import given
from hypothesis import strategies as st

from accounts.names import MAX_NAME_LENGTH, PATTERN, prepared_name, split_sign_in_name, validate_username
from tests.support.name_examples import GOOD, REFUSED


@pytest.mark.parametrize("name", GOOD, ids=ascii)
def test_name_of_any_one_script_is_good(name):
    validate_username(name)


@pytest.mark.parametrize(("name", "reason"), REFUSED.items(), ids=ascii)
def test_name_that_resembles_another_is_refused_with_the_reason(name, reason):
    with pytest.raises(ValidationError, match=reason):
        validate_username(name)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Jane", "jANE"),
        ("\uff2a\uff41\uff4e\uff45", "jane"),
        ("Ren\u00e9", "rene\u0301"),
        ("\u0418\u0432\u0430\u043d", "\u0438\u0432\u0430\u043d"),
        ("\uff8a\uff9d\uff76\uff78", "\u30cf\u30f3\u30ab\u30af"),
    ],
    ids=ascii,
)
def test_case_width_and_composition_make_no_other_name(one, other):
    assert prepared_name(one) == prepared_name(other)


def test_letters_that_only_look_alike_make_another_name():
    names = ("outsider", "outs\u0131der", "\u043e\u0440\u0430", "opa", "o\u0440a")
    assert len({prepared_name(name) for name in names}) == len(names)


@given(st.text(max_size=MAX_NAME_LENGTH + 1))
def test_valid_name_stays_the_same_however_often_it_is_prepared(name):
    prepared = prepared_name(name)
    try:
        validate_username(name)
    except ValidationError:
        return
    assert prepared_name(prepared) == prepared
    validate_username(prepared)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("Jane", ("jane", "print.example")),
        ("Jane@Shop.Example", ("jane", "shop.example")),
        ("jane@far.example@shop.example", ("jane@far.example", "shop.example")),
        ("jane@", ("jane", "")),
        ("@", ("", "")),
    ],
)
def test_domain_follows_the_last_at_sign(typed, meant):
    assert split_sign_in_name(typed) == meant


def test_pattern_of_the_description_matches_every_valid_name():
    assert all(re.search(PATTERN, name) for name in GOOD)


def test_text_longer_than_any_name_is_not_normalized():
    """200,000 marks in alternating order took half a minute."""
    marks = "\u0300\u0316" * 100_000

    assert prepared_name(marks) is marks
    assert prepared_name("e\u0301" * 64) == "é" * 64
