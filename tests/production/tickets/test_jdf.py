"""The JDF ticket, for digital presses that read no XJDF."""

import os
from pathlib import Path

import pytest
from lxml import etree

from production.adapters.sftp_drop import drop_files
from production.tickets import write_jdf
from production.tickets.check import find_mistakes
from tests.support.production.jobs import job_file, made_gang_job, made_job

SPACES = {"j": "http://www.CIP4.org/JDFSchema_1_1"}
SCHEMA = "PRODUCTION_JDF_SCHEMA"


def ticket_of(job):
    content = write_jdf(job)
    # Where the reader of the suite has CIP4's schema.
    if SCHEMA in os.environ:
        assert find_mistakes(content, Path(os.environ[SCHEMA])) == []
        assert find_mistakes(content.replace(b"Sides=", b"Faces="), Path(os.environ[SCHEMA]))
    return etree.fromstring(content)


def test_press_finds_file_copies_sides_paper_and_deadline():
    job = made_job(stock_code="SILK-350", stock_weight_gsm=350, coating="Gloss", options={}, is_rush=True)

    ticket = ticket_of(job)

    assert (ticket.get("JobID"), ticket.get("Version"), ticket.get("Types")) == (
        "SF-1001-1",
        "1.5",
        "Interpreting Rendering DigitalPrinting",
    )
    assert ticket.find(".//j:FileSpec", SPACES).get("URL") == "SF-1001-1.pdf"
    assert ticket.find(".//j:ComponentLink", SPACES).get("Amount") == "500"
    assert ticket.find(".//j:DigitalPrintingParams", SPACES).get("Sides") == "TwoSidedFlipY"
    media = ticket.find(".//j:Media", SPACES)
    assert [media.get(name) for name in ("ProductID", "Weight", "FrontCoatings")] == [
        "SILK-350",
        "350",
        "Glossy",
    ]
    node = ticket.find(".//j:NodeInfo", SPACES)
    assert (node.get("LastEnd"), node.get("JobPriority")) == ("2026-05-08T17:00:00Z", "90")
    linked = {link.get("rRef") for link in ticket.find("j:ResourceLinkPool", SPACES)}
    assert linked == {element.get("ID") for element in ticket.find("j:ResourcePool", SPACES)}


@pytest.mark.parametrize(("weight", "expected"), [(350, "Paper"), (0, "Other")])
def test_stock_without_weight_is_no_paper(weight, expected):
    ticket = ticket_of(made_job(stock_code="STOCK", stock_weight_gsm=weight, options={}))
    assert ticket.find(".//j:Media", SPACES).get("MediaType") == expected


def test_each_layout_of_a_gang_sheet_has_its_own_run():
    ticket = ticket_of(made_gang_job())

    assert ticket.find(".//j:Media", SPACES).get("Dimension") == "1275.5906 907.0866"
    pieces = ticket.find(".//j:Component", SPACES)
    assert (pieces.get("ComponentType"), pieces.get("Dimensions")) == ("Sheet", "1275.5906 907.0866 0")
    amounts = [element.get("Amount") for element in ticket.iterfind(".//j:PartAmount", SPACES)]
    assert amounts == ["25", "13"]
    assert len(ticket.findall(".//j:RunList/j:RunList", SPACES)) == 2
    assert ticket.find(".//j:ConventionalPrintingParams", SPACES).get("WorkStyle") == "WorkAndTurn"
    linked = {link.get("rRef") for link in ticket.find("j:ResourceLinkPool", SPACES)}
    assert linked == {element.get("ID") for element in ticket.find("j:ResourcePool", SPACES)}


def test_form_that_prints_both_sides_is_front_and_back_of_its_sheet():
    assert ticket_of(made_gang_job()).find(".//j:RunList", SPACES).get("Pages") == "0 0"
    assert ticket_of(made_job()).find(".//j:RunList", SPACES).get("Pages") is None


def test_people_read_what_is_done_after_printing_and_what_is_packed_together():
    job = made_job(
        finish="Satin aqueous",
        binding="SaddleStitch",
        binding_edge="Left",
        folding="F4-1",
        siblings=["SF-1000-1", "SF-1001-1"],
    )

    comments = {element.get("ID"): element.text for element in ticket_of(job).findall("j:Comment", SPACES)}

    assert comments["Finishing"].splitlines() == [
        "Rounded corners: Yes",
        "Finish: Satin aqueous",
        "Binding: SaddleStitch, Left",
        "Folding: F4-1",
        "Item of order: 2 of 2",
        "Pack together with: SF-1000-1",
    ]


def test_chosen_option_comes_before_that_of_the_product():
    """An option of a customer may have the name of something that the product has, or lacks."""
    options = {"Finish": "Soft-touch", "Folding": "Half", "Pack together with": "Flyer", "紙": "和紙"}

    job = made_job(options=options, finish="Gloss aqueous", siblings=["1000-1", "SF-1001-1"])

    comments = {element.get("ID"): element.text for element in ticket_of(job).findall("j:Comment", SPACES)}
    assert comments["Finishing"].splitlines() == [
        *(f"{name}: {value}" for name, value in options.items()),
        "Item of order: 2 of 2",
        "Pack together with: 1000-1",
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"note": "\x00\x0b<&>\ud800", "external_id": "—"},
        {"ship_by": None, "options": {}, "note": "", "recipient": {}},
        {"binding": "WireComb", "binding_edge": "Top", "is_head_to_foot": True},
        {"files": [job_file("a b.pdf")], "is_two_sided": False, "coating": "Coated"},
    ],
)
def test_hostile_and_bare_jobs_give_the_same_valid_ticket_each_time(changes):
    ticket_of(made_job(**changes))

    assert write_jdf(made_job(**changes)) == write_jdf(made_job(**changes))


def test_hot_folder_gets_the_ticket_that_was_chosen():
    names = [file.name for file in drop_files(made_job(), "jdf")]

    assert names == ["SF-1001-1.pdf", "SF-1001-1.jdf"]
