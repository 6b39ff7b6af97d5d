import re
from datetime import UTC, datetime

import pytest

from production.tickets import read_csv_reports, read_json_reports, read_report_file, read_xjmf, write_xjdf
from tests.support.production.jobs import made_job

NOON = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
SIGNAL = """<?xml version="1.0" encoding="UTF-8"?>
<XJMF xmlns="http://www.CIP4.org/JDFSchema_2_0">
  <Header DeviceID="press" ID="m1" Time="2026-05-04T12:00:00Z"/>
  {message}
</XJMF>"""


def _signal(message):
    return read_xjmf(SIGNAL.format(message=message).encode())


def _status(phase, head='ID="S1"'):
    return _signal(
        f'<SignalStatus><Header DeviceID="press" {head} Time="2026-05-04T12:00:00Z"/>'
        f'<DeviceInfo Status="Production">{phase}</DeviceInfo></SignalStatus>'
    )


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ('Status="Waiting"', "Acknowledged"),
        ('Status="InProgress"', "InProduction"),
        ('Status="Stopped"', "InProduction"),
        ('Status="Completed"', "InProduction"),
        ('Status="Completed" StatusDetails="Shipped"', "Shipped"),
        ('Status="Aborted"', "Failed"),
        ('Status="Aborted" StatusDetails="Cancelled"', "Cancelled"),
    ],
)
def test_phase_of_a_job_becomes_its_state(status, state):
    (report,) = _status(f'<JobPhase JobID="SF-1" {status}/>')
    assert (report.job_number, report.state, report.at) == ("SF-1", state, NOON)
    assert "JobPhase" in report.raw


def test_parcel_milestone_and_fatal_error_are_read():
    header = '<Header DeviceID="press" ID="n1" Time="2026-05-04T14:00:00+02:00"/>'
    reports = _signal(
        f'<SignalResource>{header}<ResourceInfo JobID="SF-1"><ResourceSet Name="DeliveryParams"><Resource>'
        '<DeliveryParams Method="UPS" TrackingID="1Z999"/></Resource></ResourceSet></ResourceInfo></SignalResource>'
        f'<SignalNotification>{header}<Notification Class="Event" JobID="SF-2">'
        '<Milestone MilestoneType="ShippingCompleted"/></Notification></SignalNotification>'
        f'<SignalNotification>{header}<Notification Class="Fatal" JobID="SF-3"><Comment>Font missing</Comment>'
        "</Notification></SignalNotification>"
        f'<SignalNotification>{header}<Notification Class="Information" JobID="SF-4"/></SignalNotification>'
    )
    assert [(report.job_number, report.state, report.at) for report in reports] == [
        ("SF-1", "Shipped", NOON),
        ("SF-2", "Shipped", NOON),
        ("SF-3", "Failed", NOON),
    ]
    assert (reports[0].carrier, reports[0].tracking_number) == ("UPS", "1Z999")
    assert reports[2].message == "Fatal Font missing"


def test_returned_ticket_reports_by_its_audits():
    audit = (
        b'<AuditProcessRun><Header DeviceID="press" Time="2026-05-04T12:00:00Z"/>'
        b'<ProcessRun Start="2026-05-04T11:00:00Z" End="2026-05-04T12:00:00Z" EndStatus="Aborted"/></AuditProcessRun>'
    )
    ticket = write_xjdf(made_job("SF-9"))
    assert read_xjmf(ticket) == []
    (report,) = read_xjmf(ticket.replace(b"</AuditPool>", audit + b"</AuditPool>"))
    assert (report.job_number, report.state, report.at) == ("SF-9", "Failed", NOON)


def test_identifier_is_the_same_for_the_same_report_only():
    def phase(status, head='ID="S1"'):
        return _status(f'<JobPhase JobID="SF-1" Status="{status}"/>', head)[0].identifier

    found = [phase("Waiting"), phase("InProgress"), phase("Waiting", 'ID="S2"'), phase("Waiting", "")]
    assert phase("Waiting") == found[0]
    assert len(set(found)) == 4
    csv = b"JobNumber,State,At\nSF-1,Shipped,2026-05-04T12:00:00Z\nSF-2,Shipped,2026-05-04T12:00:00Z\n"
    both = [report.identifier for report in read_csv_reports(csv)]
    assert len(set(both)) == 2
    as_json = read_json_reports(b'{"JobNumber":"SF-1","State":"Shipped","At":"2026-05-04T14:00:00+02:00"}')
    assert as_json[0].identifier == both[0]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_csv_of_a_spreadsheet_is_read(separator):
    text = (
        "\ufeffJob Number,state,tracking_number,At,Message\r\nSF-1,in production,,2026-05-04 12:00,\r\n\r\n"
    )
    text += 'SF-2,Shipped,1Z 999,2026-05-04T12:00:00Z,"two\nlines"\r\n'
    reports = read_csv_reports(text.replace(",", separator).encode())
    assert [
        (report.job_number, report.state, report.at, report.tracking_number, report.message)
        for report in reports
    ] == [
        ("SF-1", "InProduction", NOON, "", ""),
        ("SF-2", "Shipped", NOON, "1Z 999", "two lines"),
    ]


def test_separator_of_lines_that_end_with_carriage_returns_is_found():
    (report,) = read_csv_reports(b"JobNumber;State;Message\rSF-1;Shipped;a, b, c, d, e\r")

    assert report.message == "a, b, c, d, e"


def test_json_is_one_report_a_list_or_a_versioned_object():
    entry = '{"JobNumber": "SF-1", "State": "Cancelled", "Message": null}'
    for body in (entry, f"[{entry}]", f'{{"Version": 1, "Reports": [{entry}]}}'):
        (report,) = read_json_reports(body.encode())
        assert (report.job_number, report.state, report.at) == ("SF-1", "Cancelled", None)
    assert read_json_reports(b"[]") == []


@pytest.mark.parametrize(
    ("name", "body", "message"),
    [
        ("a.csv", b"Job,State\n", "a.csv: Line 1: there is no column “Job”"),
        ("a.csv", b"JobNumber\n", "a.csv: Line 1: the column State is missing"),
        ("a.csv", b"", "a.csv: Line 1: the column JobNumber is missing"),
        ("a.csv", b"JobNumber,State,State\n", "a column appears twice"),
        ("a.csv", b"JobNumber,State\nSF-1,Gone\n", "Line 2: State is “Gone”; it must be one of Acknowledged"),
        ("a.csv", b"JobNumber,State\n\nSF 1,Shipped\n", "Line 3: JobNumber is “SF 1”"),
        ("a.csv", b"JobNumber,State\nSF-1\n", "Line 2: it has 1 fields, but line 1 has 2 columns"),
        (
            "a.csv",
            b"JobNumber,State,At\nSF-1,Shipped,4/5/26\n",
            "Line 2: At is “4/5/26”; write a time such as",
        ),
        ("a.csv", b"JobNumber,State\nSF-1,\xe4\n", "Line 2: the text is not UTF-8"),
        ("a.csv", b'JobNumber,State\nSF-1,"x', "this is not CSV"),
        ("a.json", b'{"JobNumber": 1}', "Report 1: JobNumber must be text"),
        (
            "a.json",
            b'[{"JobNumber": "1", "State": "Shipped", "Tracking": ""}]',
            "Report 1: there is no member Tracking",
        ),
        ("a.json", b'{"Version": 2, "Reports": []}', "Version is 2; it must be 1"),
        ("a.json", b'{"Reports": [], "x": 1}', "x is not an allowed member"),
        ("a.json", b"[\n1,\n]", "Line 3: this is not JSON"),
        ("a.json", b'"x"', "Write a report, a list of reports"),
        ("a.json", b"[" * 200_000, "JSON"),
        (
            "a.json",
            b'[{"JobNumber":"1","State":"Shipped","TrackingURL":"javascript:alert(1)"}]',
            "TrackingURL is",
        ),
        ("a.json", b" " * (2 * 1024 * 1024 + 1), "at most 2,097,152 bytes"),
        ("a.xml", b"<XJMF/>", "a.xml: Line 1: the root is XJMF; it must be XJMF or XJDF of http"),
        ("a.xml", b"<XJMF>", "Line 1, column"),
        ("a.xml", b"<a>\n\x00</a>", "Line 2: NUL"),
        ("a.xml", b'\n<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>', "Line 2: <!DOCTYPE"),
        ("a.exe", b"", "a.exe: reports are read from .csv"),
    ],
)
def test_mistake_is_named_with_file_line_and_field(name, body, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        read_report_file(name, body)


@pytest.mark.parametrize(
    ("phase", "message"),
    [
        (
            '<JobPhase JobID="SF-1" Status="Printed"/>',
            "Line 4, JobPhase: Status is “Printed”; it must be one of",
        ),
        ('<JobPhase JobID="SF-1" Status="Completed" EndTime="soon"/>', "Line 4, JobPhase: Time is “soon”"),
        ('<JobPhase JobID="S F" Status="Completed"/>', "Line 4, JobPhase: JobNumber is “S F”"),
    ],
)
def test_mistake_of_a_message_is_named_with_line_and_attribute(phase, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        _status(phase)
