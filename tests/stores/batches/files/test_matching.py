import time
import unicodedata
from difflib import SequenceMatcher

import pytest

from stores.batches.files import matching
from stores.batches.files.matching import match_columns, without_accents

RECIPIENT = [
    f"Recipient.{member}"
    for member in (
        "Name",
        "Company",
        "Address1",
        "Address2",
        "City",
        "State",
        "PostalCode",
        "CountryCode",
        "Phone",
    )
]


def matched(columns, targets, labels=None):
    return {
        match.target: match.column
        for match in match_columns(columns=columns, targets=targets, labels=labels or {})
    }


@pytest.mark.parametrize(
    ("column", "member"),
    [
        ("zip", "PostalCode"),
        ("ZIP Code", "PostalCode"),
        ("ZipCode", "PostalCode"),
        ("postal_code", "PostalCode"),
        ("PLZ", "PostalCode"),
        ("Code postal", "PostalCode"),
        ("Recipient.PostalCode", "PostalCode"),
        ("Shipping ZIP", "PostalCode"),
        ("Street", "Address1"),
        ("Straße", "Address1"),
        ("Adress line 1", "Address1"),
        ("Address 2", "Address2"),
        ("company name", "Company"),
        ("SOCIÉTÉ", "Company"),
        ("Full name", "Name"),
        ("Ort", "City"),
        ("  country ", "CountryCode"),
        ("Téléphone", "Phone"),
    ],
)
def test_columns_match_members_of_the_recipient(column, member):
    assert matched([column], RECIPIENT) == {f"Recipient.{member}": column}


def test_a_plain_name_goes_to_the_template_field():
    targets = ["Name", "Phone", "Recipient.Name", "Recipient.Phone"]

    assert matched(["name", "Phone"], targets) == {"Name": "name", "Phone": "Phone"}
    assert matched(["Name", "Recipient name"], targets) == {
        "Name": "Name",
        "Recipient.Name": "Recipient name",
    }
    assert matched(["Name"], ["Title", "Recipient.Name"]) == {"Recipient.Name": "Name"}


def test_labels_of_fields_match():
    assert matched(["Job title"], ["Line2"], {"Line2": "Job Title"}) == {"Line2": "Job title"}


def test_ambiguous_columns_stay_unmatched():
    assert matched(["Zip", "Postcode", "City"], RECIPIENT) == {"Recipient.City": "City"}
    assert matched(["Motto"], ["Line1", "Line2"], {"Line1": "Motto", "Line2": "Motto"}) == {}


def test_each_target_and_column_is_matched_at_most_once():
    columns = ["Name", "Full name", "NAME", "Recipient", "Zip", "zip", "Street", "Address"]
    matches = match_columns(columns=columns, targets=["Name", *RECIPIENT], labels={"Name": "Full name"})

    assert len({match.target for match in matches}) == len(matches)
    assert len({match.column for match in matches}) == len(matches)
    assert all(0 < match.score <= 1 for match in matches)


def test_scores_fall_with_the_distance_of_the_names():
    scores = [
        match_columns(columns=[column], targets=["Company"], labels={"Company": "Your employer"})[0].score
        for column in ("Company", "company", "your employer", "Firm", "Compagny")
    ]

    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 5
    assert match_columns(columns=["Quantity", ""], targets=["Company"], labels={}) == []


def test_most_heads_and_names_are_told_apart_without_a_comparison(monkeypatch):
    """256 heads of 250 characters took seven seconds of a web process."""
    compared = []

    def compare(_, name, other):
        compared.append((name, other))
        return SequenceMatcher(None, name, other)

    monkeypatch.setattr(matching, "SequenceMatcher", compare)
    heads = [f"{number:03} " + "address of the company " * 10 for number in range(256)]

    assert matched(heads, RECIPIENT) == {}
    assert compared == []
    assert matched(["Compagny"], ["Company"]) == {"Company": "Compagny"}


def test_long_names_of_the_same_letters_are_not_compared(monkeypatch):
    """A store's 200 fields of such names, and a file of 256 such heads, took two minutes of a web process."""
    monkeypatch.setattr(matching, "SequenceMatcher", None)

    assert matched(["ab" * 20 + "a"], ["ba" * 20 + "b"]) == {}
    assert matched(["ab" * 30], ["AB" * 30]) == {"AB" * 30: "ab" * 30}


def test_accents_of_a_cell_of_many_marks_are_removed_at_once():
    began = time.thread_time()

    assert [without_accents("a" + "\u0301\u0327" * 4_999) for _ in range(10)] == ["a"] * 10
    assert time.thread_time() - began < 0.25


@pytest.mark.parametrize(
    "text", ["Ångström ﬁ ½ ", "각하\u1100\u1161\u11a8", "e\u0301\u0323", "\uff9e\u0344x"]
)
def test_accents_are_removed_alike_wherever_they_stand(text):
    for before in range(90, 110):
        whole = unicodedata.normalize("NFKD", text)
        plain = "".join(letter for letter in whole if not unicodedata.combining(letter))
        assert without_accents("x" * before + text) == "x" * before + plain
