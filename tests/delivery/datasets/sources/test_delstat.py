from datetime import date

import pytest

from delivery.datasets.problems import BadRouteFile
from tests.factories.delivery import delstat_header, delstat_record

CITY = delstat_record("84101", "C001", {0: 10, 3: 5, 7: 1, 8: 900}, {1: 500, 2: 90}, general=4)
BOX = delstat_record("84101", "B001", {4: 9, 0: 77}, {4: 60, 5: 10, 6: 5, 11: 5})
RURAL = delstat_record("00501", "R002", {}, {1: 300})


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_records_with_and_without_line_ends(gather, end):
    gathered = gather(end.join([delstat_header(), CITY, BOX, RURAL]) + end)

    assert gathered.routes == {"84101C001": (590, 16), "84101B001": (80, 9), "00501R002": (300, 0)}
    assert (gathered.source.format, gathered.source.vintage) == ("delstat", date(2025, 11, 1))
    assert gathered.flaws == []


def test_left_out_counts_are_reported(gather):
    notes = gather(delstat_header() + CITY + BOX + RURAL).source.notes

    assert notes == [
        "Left out as not deliverable by route: 900 of caller service, remittance and contest, "
        "4 of general delivery."
    ]


def test_invalid_count_behind_the_checked_records_rejects_its_line(gather):
    bad = CITY.replace(b"00500", b"00X00")
    records = [delstat_record("84101", f"C{number:03d}", {}, {1: 5}) for number in range(2, 102)]

    gathered = gather(delstat_header() + b"".join(records) + bad)

    assert gathered.flaws == [(102, "E_COUNT")]


def test_file_that_is_cut_off(gather):
    with pytest.raises(BadRouteFile, match="cut off in the middle of record 4"):
        gather(delstat_header() + CITY + BOX + RURAL[:200])


@pytest.mark.parametrize(
    "content",
    [
        delstat_header() + CITY[:300] + BOX + RURAL + CITY,
        delstat_header() + CITY.replace(b"C001", b"0001") + BOX,
        b"X" + delstat_header()[1:] + CITY,
        delstat_header(),
        b"x" * 2000,
    ],
)
def test_another_layout_is_not_guessed_at(gather, content):
    with pytest.raises(BadRouteFile, match=r"[Ll]ayout not recognized"):
        gather(content)
