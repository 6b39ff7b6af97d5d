"""What counts as affected by a known weakness, as OSV records say it."""

import pytest
from packaging.version import Version

from tests.benchmarks.advisories import LOCKED, is_affected

TWO_BRANCHES = [{"introduced": "5.0"}, {"fixed": "5.0.8"}, {"introduced": "4.2"}, {"fixed": "4.2.15"}]
FROM_THE_START = [{"introduced": "0"}, {"last_affected": "1.4"}]


@pytest.mark.parametrize(
    ("version", "events", "affected"),
    [
        ("4.1", TWO_BRANCHES, False),
        ("4.2", TWO_BRANCHES, True),
        ("4.2.15", TWO_BRANCHES, False),
        ("5.0.7", TWO_BRANCHES, True),
        ("5.0.8", TWO_BRANCHES, False),
        ("0.1", FROM_THE_START, True),
        ("1.4", FROM_THE_START, True),
        ("1.4.1", FROM_THE_START, False),
    ],
)
def test_ranges_of_a_record_decide(version, events, affected):
    record = {"ranges": [{"type": "ECOSYSTEM", "events": events}]}

    assert is_affected(Version(version), record) is affected


def test_versions_listed_are_affected():
    assert is_affected(Version("2.0"), {"versions": ["2.0"]})
    assert not is_affected(Version("2.1"), {"versions": ["2.0"]})


def test_every_form_of_a_lock_is_read():
    text = "django==5.2.9 \\\n    --hash=x\npsycopg[binary]==3.3.0 ; python_version < '4'\n"

    assert LOCKED.findall(text) == [("django", "5.2.9"), ("psycopg", "3.3.0")]
