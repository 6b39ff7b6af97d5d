"""English texts that are kept are translated where a page shows them."""

import time

import pytest
from django.utils import translation

from fulfillment.core import recorded_texts
from fulfillment.core.recorded_texts import translated

FINDING = "Phone is too close to the trim and may be cut (1.5 mm from the trim; expected: 3.25 mm)."


@pytest.mark.parametrize(
    ("text", "german"),
    [
        ("Save it without a password.", "Speichern Sie sie ohne Passwort."),
        (
            "The cells A1:B2 are merged. Only the first has a value; the others are empty.",
            "Die Zellen A1:B2 sind verbunden. Nur die erste hat einen Wert; die anderen sind leer.",
        ),
        (
            "The file is a PDF. Save it as XLSX or CSV and upload that file.",
            "Die Datei ist ein PDF. Speichern Sie sie als XLSX oder CSV und laden Sie diese Datei hoch.",
        ),
        (
            FINDING,
            "Phone: so nah am Endformat, dass der Schnitt es treffen kann "
            "(1,5 mm vom Endformat; nötig: 3,25 mm).",
        ),
        (
            "Import 3 of big.csv is running, started by Grace: reading, 43%.",
            "Import 3 von big.csv läuft, started by Grace: reading, 43 %.",
        ),
        (
            "Card has more ink than the paper can take, so it may smear and dry slowly (383.5%; expected: 300%).",
            "Card: mehr Farbe, als das Papier aufnimmt. Sie schmiert und trocknet langsam "
            "(383,5\xa0%; nötig: 300\xa0%).",
        ),
        ("Out of cyan at 1.5 mm.", "Out of cyan at 1.5 mm."),
        (
            "Currency: write one of CAD, USD; found “EUR”.",
            "Currency: schreiben Sie eines von CAD, USD; gefunden: “EUR”.",
        ),
        ("Note: call before 9.", "Note: call before 9."),
        (
            "The picture has 9 × 9,000 pixels. Send one PNG or JPEG picture of at most 1 MB and 2,000 × 2,000 pixels.",
            "Das Bild hat 9 × 9,000 Pixel. Senden Sie ein PNG- oder JPEG-Bild mit höchstens 1 MB und "
            "2,000 × 2,000 Pixeln.",
        ),
    ],
)
def test_recorded_text_is_translated_by_the_words_around_its_values(text, german):
    with translation.override("de"):
        assert translated(text) == german


def counted(monkeypatch):
    """The texts that are compared with a message, once for each."""
    compared, compare = [], recorded_texts._values

    def noting(text, *pattern):
        compared.append(text)
        return compare(text, *pattern)

    monkeypatch.setattr(recorded_texts, "_values", noting)
    recorded_texts._translated.cache_clear()
    return compared


def test_recorded_text_stays_as_it_is_in_english():
    assert translated(FINDING) == FINDING


def test_sentence_is_compared_with_few_messages(monkeypatch):
    compared = counted(monkeypatch)

    with translation.override("de"):
        assert translated("Nothing here is of the service.") == "Nothing here is of the service."

    assert 0 < len(compared) < 120


def test_text_of_many_sentences_stays_as_it_is(monkeypatch):
    compared = counted(monkeypatch)
    many = " ".join(f"Aa{number}." for number in range(200))
    note = " ".join(["Save it without a password."] * 21)

    with translation.override("de"):
        assert translated(many) == many
        assert translated(note) == note
        assert not compared
        assert translated(note[28:]) == " ".join(["Speichern Sie sie ohne Passwort."] * 20)


def test_texts_in_texts_are_shown():
    """The audit log failed for a description with so many colons."""
    text = "a: " * 600

    with translation.override("de"):
        assert translated(text) == text


@pytest.mark.slow
def test_hostile_text_costs_no_time():
    """Of the words of a message with six values, again and again."""
    text = "None of the " + "y lines could be read (y); the first: line y y, y" * 20 + "~"

    with translation.override("de"):
        translated("2 mm")  # reads the catalog
        began = time.process_time()
        shown = translated(text)

    assert shown == text
    assert time.process_time() - began < 0.5
