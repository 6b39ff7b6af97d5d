"""The documents stay readable: few long sentences, one spelling."""

from statistics import median

import pytest

from tests.tools.prose import documents, read_prose, sentences_of, shares

# Of all sentences, in percent.
MAX_SHARES = {
    "more than 28 words": 1.0,
    "two colons or a long bracket": 1.0,
    "that of, of which, what is": 0.5,
    "of … of … of": 1.0,
    "British spelling": 0.0,
}


@pytest.fixture(scope="module")
def all_prose():
    return [read_prose(path) for path in documents()]


@pytest.mark.parametrize("rule", MAX_SHARES)
def test_documents_keep_the_rule(all_prose, rule):
    sentences = [f"{prose.path.name}: {sentence}" for prose in all_prose for sentence in prose.found[rule]]

    assert shares(all_prose)[rule] <= MAX_SHARES[rule], "\n".join(sentences)


def test_documents_are_easy_to_read(all_prose):
    grades = {prose.path.name: round(prose.grade, 1) for prose in all_prose if prose.grade}

    assert median(grades.values()) <= 7
    assert {name: grade for name, grade in grades.items() if grade > 9} == {}


def test_sentences_leave_out_code_tables_and_headings():
    prose = "# A title here\n\nRun `a b c` first. Then\nread it.\n\n| a | b |\n\n"
    text = f"{prose}```sh\nmake run now\n```\n\n- One more thing."

    assert list(sentences_of(text)) == ["Run Code first.", "Then read it.", "One more thing."]
