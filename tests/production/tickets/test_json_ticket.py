import json

from production.tickets import write_json_ticket
from tests.support.production.jobs import job_file, made_job


def test_ticket_holds_what_a_press_needs():
    art = job_file("SF-1001-1.pdf", b"art", "https://files.example.com/1")
    ticket = json.loads(write_json_ticket(made_job(files=[art])))
    assert (ticket["Format"], ticket["Version"], ticket["JobNumber"]) == (
        "store-fulfillment-ticket",
        1,
        "SF-1001-1",
    )
    assert ticket["Due"] == "2026-05-08T17:00:00Z"
    assert ticket["Size"] == {"WidthMM": 88.9, "HeightMM": 50.8, "BleedMM": 3.175}
    assert ticket["Files"] == [
        {
            "Name": "SF-1001-1.pdf",
            "MediaType": "application/pdf",
            "Bytes": 3,
            "SHA256": art.sha256,
            "URL": art.url,
            "Kind": "Print",
        }
    ]
    assert ticket["Recipient"]["Name"] == "Ana María O’Neill"
    assert write_json_ticket(made_job()) == write_json_ticket(made_job())
