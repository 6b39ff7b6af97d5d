import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from production.adapters.sftp_drop import drop_files, preview_files
from production.adapters.sftp_returns import is_unfinished, read_returned
from production.interface import ProviderRefused
from production.tickets import write_xjdf
from tests.support.production.jobs import job_file, made_job

NOON = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


def test_tickets_come_last_and_name_the_files_as_they_lie_there():
    art = job_file("../Card.PDF", b"%PDF one")
    files = drop_files(made_job("1001-1", files=[art]), "both")
    assert [file.name for file in files] == ["1001-1.pdf", "1001-1.xjdf", "1001-1.json"]
    assert b'URL="1001-1.pdf"' in files[1].content
    assert json.loads(files[2].content)["Files"][0]["Name"] == "1001-1.pdf"
    several = drop_files(made_job("1001-1", files=[art, replace(art, name="Back")]), "none")
    assert [file.name for file in several] == ["1001-1_1.pdf", "1001-1_2.pdf"]
    assert preview_files("in", files[:1]) == {"in/1001-1.pdf": f"8 bytes, SHA-256 {art.sha256}"}


def test_damaged_print_file_is_never_sent():
    with pytest.raises(ProviderRefused, match="is damaged"):
        drop_files(made_job(files=[replace(job_file(), content=b"other")]), "both")


def test_job_without_any_file_is_refused():
    with pytest.raises(ProviderRefused, match="has no print file"):
        drop_files(made_job(files=[]), "none")
    assert len(drop_files(made_job(files=[]), "both")) == 2


@pytest.mark.parametrize("name", ["1001-1.pdf", "1001-1_2.pdf", "1001-1.xjdf"])
def test_moved_file_acknowledges_its_job(name):
    (report,) = read_returned(name, write_xjdf(made_job("1001-1")), NOON)
    assert (report.job_number, report.state, report.at) == ("1001-1", "Acknowledged", None)


def test_moved_json_ticket_is_no_report():
    ticket = drop_files(made_job("1001-1"), "json")[-1]
    assert read_returned("1001-1.json", ticket.content, NOON)[0].state == "Acknowledged"
    (report,) = read_returned("any.json", b'{"JobNumber": "1001-1", "State": "Shipped"}', NOON)
    assert (report.state, report.at) == ("Shipped", NOON)


def test_files_that_name_no_job_are_a_clear_error():
    with pytest.raises(ValueError, match="must begin with the number of its job"):
        read_returned("read me.txt", b"", NOON)
    assert [name for name in ("a.pdf", ".a.pdf", "a.pdf.part", "~a.csv", "b.TMP") if is_unfinished(name)] == [
        ".a.pdf",
        "a.pdf.part",
        "~a.csv",
        "b.TMP",
    ]
