import hashlib
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from lxml import etree

from production.tickets import write_xjdf
from production.tickets.check import VARIABLE, find_mistakes, main
from production.tickets.xjdf import OWN_NAMESPACE
from tests.support.patience import PATIENCE
from tests.support.production.jobs import job_file, made_gang_job, made_job

SPACES = {"x": "http://www.CIP4.org/JDFSchema_2_0"}


def _ticket(**changes):
    return etree.fromstring(write_xjdf(made_job(**changes)))


def _only(root, path):
    found = root.findall(path, SPACES)
    assert len(found) == 1, path
    return found[0]


def _order(element):
    return [etree.QName(child).localname for child in element]


def _follows_schema(ticket):
    """Where the reader of the suite has CIP4's schema."""
    if VARIABLE in os.environ:
        assert find_mistakes(ticket, Path(os.environ[VARIABLE])) == []


def test_ticket_has_its_parts_in_the_order_of_the_schema():
    root = _ticket()
    assert (
        _order(root)
        == [
            "AuditPool",
            "Comment",
            *["GeneralID"] * 3,
            "ProductList",
            *["ResourceSet"] * 6,
        ][: len(root)]
    )
    assert dict(root.attrib) == {
        "DescriptiveName": "Business card, 16 pt silk",
        "JobID": "SF-1001-1",
        "ProjectID": "1001",
        "Types": "Product",
        "Version": "2.1",
    }
    assert _only(root, "x:Comment").text == "Call before delivery"
    assert [set_.get("Name") for set_ in root.findall("x:ResourceSet", SPACES)] == [
        "Contact",
        "CustomerInfo",
        "DeliveryParams",
        "NodeInfo",
        "RunList",
    ]
    assert all(set_.get("Usage") == "Input" for set_ in root.findall("x:ResourceSet", SPACES))


def test_product_states_quantity_size_sides_and_paper():
    product = _only(_ticket(), "x:ProductList/x:Product")
    assert (product.get("Amount"), product.get("IsRoot")) == ("500", "true")
    assert _order(product) == ["GeneralID", "Intent", "Intent", "Intent"]
    feature = _only(product, "x:GeneralID")
    assert dict(feature.attrib) == {
        "DataType": "NamedFeature",
        "IDUsage": "Rounded-corners",
        "IDValue": "Yes",
    }
    assert dict(_only(product, ".//x:LayoutIntent").attrib) == {
        "Bleed": "9",
        "Dimensions": "252 144",
        "FinishedDimensions": "252 144 0",
        "Pages": "2",
        "Sides": "TwoSidedHeadToHead",
    }
    assert dict(_only(product, ".//x:MediaIntent").attrib) == {
        "Coating": "Satin",
        "MediaType": "Paper",
        "Weight": "350",
    }
    assert [color.get("Surface") for color in product.iterfind(".//x:SurfaceColor", SPACES)] == [
        "Front",
        "Back",
    ]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "Paper"),
        ({"stock_code": "16PT-C2S", "stock_weight_gsm": 350}, "Paper"),
        ({"stock_code": "FELT", "coating": "None"}, "Paper"),
        ({"stock_code": "MUG-11OZ-WHITE"}, "Other"),
        ({"stock_code": "13OZ-VINYL", "options": {"MediaType": "Vinyl"}}, "Vinyl"),
        ({"stock_code": "16PT-C2S", "stock_weight_gsm": 350, "options": {"MediaType": "Film"}}, "Film"),
    ],
)
def test_stock_without_weight_and_coating_is_no_paper(changes, expected):
    root = _ticket(**{"options": {}, **changes})
    assert _only(root, ".//x:MediaIntent").get("MediaType") == expected
    _follows_schema(etree.tostring(root))


def test_option_keeps_its_name_in_any_script():
    options = {"Größe": "XL", "紙": "和紙", "Rounded corners?": "Yes"}

    features = _ticket(options=options).findall(".//x:GeneralID[@DataType='NamedFeature']", SPACES)

    assert {feature.get("IDUsage"): feature.get("IDValue") for feature in features} == {
        "Größe": "XL",
        "紙": "和紙",
        "Rounded-corners": "Yes",
    }


def test_paper_that_was_chosen_in_other_words_is_not_that_of_the_product():
    options = {"Coating": "Glossy", "Weight": "400 gsm", "MediaType": "Papier"}

    root = _ticket(stock_code="SILK", stock_weight_gsm=350, coating="Satin", options=options)

    media = {"MediaQuality": "SILK", "MediaType": "Paper"}
    assert dict(_only(root, ".//x:MediaIntent").attrib) == media
    features = root.findall(".//x:GeneralID[@DataType='NamedFeature']", SPACES)
    assert {feature.get("IDUsage"): feature.get("IDValue") for feature in features} == options


def test_delivery_names_address_and_what_is_in_the_parcel():
    root = _ticket()
    contact = _only(root, ".//x:Contact")
    assert _order(contact) == ["Address", "ComChannel", "ComChannel", "Company", "Person"]
    assert dict(_only(contact, "x:Address").attrib) == {
        "City": "Salt Lake City",
        "CountryCode": "US",
        "ExtendedAddress": "Suite 4",
        "PostalCode": "84101",
        "Region": "UT",
        "Street": "100 Main St",
    }
    assert [channel.get("Locator") for channel in contact.iterfind("x:ComChannel", SPACES)] == [
        "mailto:ana@example.com",
        "tel:+18015550100",
    ]
    assert dict(_only(contact, "x:Person").attrib) == {
        "DescriptiveName": "Ana María O’Neill",
        "FamilyName": "O’Neill",
        "FirstName": "Ana María",
    }
    delivery = _only(root, ".//x:DeliveryParams")
    assert delivery.get("Required") == "2026-05-15T17:00:00Z"
    assert delivery.get("Method") == "Ground-3-5-days"
    drop = _only(delivery, "x:DropItem")
    assert drop.get("Amount") == "500"
    assert drop.get("ItemRef") == _only(root, "x:ProductList/x:Product").get("ID")
    assert _only(root, ".//x:CustomerInfo").get("CustomerOrderID") == "PO 77/3"


def test_files_carry_size_and_digests():
    art = job_file("Card 1&2.pdf", b"%PDF-1.7 one")
    root = _ticket(files=[art])
    spec = _only(root, ".//x:RunList/x:FileSpec")
    assert dict(spec.attrib) == {
        "CheckSum": hashlib.md5(art.content).hexdigest(),
        "FileSize": "12",
        "MimeType": "application/pdf",
        "URL": "Card%201%262.pdf",
        "UserFileName": "Card 1&2.pdf",
        "{urn:store-fulfillment:ticket:1}SHA256": art.sha256,
    }
    assert spec.getparent().get("Pages") == "0 1"
    several = _ticket(files=[art, replace(art, name="back.pdf")])
    assert [part.get("Run") for part in several.iterfind(".//x:Part[@Run]", SPACES)] == ["Run-1", "Run-2"]


def test_same_job_gives_the_same_bytes():
    assert write_xjdf(made_job()) == write_xjdf(made_job())


@pytest.mark.parametrize("number", ["", "../../etc", "a b", "-rf", "x" * 101, "ä"])
def test_number_that_is_no_file_name_is_refused(number):
    with pytest.raises(ValueError, match="job number"):
        write_xjdf(made_job(number))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"options": {}, "is_rush": True, "production_days": 2, "siblings": ["1001-1", "SF-1001-1"]},
        {
            "stock_code": "SILK-350",
            "stock_weight_gsm": 350,
            "coating": "Satin",
            "finish": "Soft touch",
            "options": {},
        },
        {"binding": "WireComb", "binding_edge": "Top", "is_head_to_foot": True},
        {"binding": "SaddleStitch", "folding": "F4-1", "spot_plates": ["CutContour", "PANTONE 485 C"]},
        {"note": "\x00\x0b<&>\ud800"},
        {
            "ship_by": None,
            "deliver_by": None,
            "external_id": "",
            "delivery_method": "—",
            "recipient": {},
            "options": {},
        },
        {"options": {"Weight": "heavy", "Coating": "Wax", "——": "x", "MediaType": "Vinyl"}},
        {"files": [job_file("a.pdf"), job_file("b.pdf")], "pages": 1, "is_two_sided": False},
        {"recipient": {"Name": "Cher", "CountryCode": "USA", "Phone": "—"}, "product_id": "…"},
    ],
)
def test_hostile_and_bare_jobs_give_tickets_of_the_schema(changes):
    ticket = write_xjdf(made_job(**changes))
    etree.fromstring(ticket)
    _follows_schema(ticket)


def test_gang_ticket_has_a_product_a_recipient_and_a_parcel_for_each_job():
    """One set of each name with parts: a reader that takes the first set of a name has all recipients."""
    ticket = write_xjdf(made_gang_job())
    root = etree.fromstring(ticket)
    assert _order(root) == ["AuditPool", "Comment", "ProductList", *["ResourceSet"] * 8]
    assert root.find(".//x:Media", SPACES).get("Dimension") == "1275.5906 907.0866"
    products = root.findall("x:ProductList/x:Product", SPACES)
    assert [(product.get("ID"), product.get("Amount")) for product in products] == [
        ("Product-1", "100"),
        ("Product-2", "250"),
    ]
    named = [
        [
            (element.get("IDUsage"), element.get("IDValue"))
            for element in product.findall("x:GeneralID", SPACES)[:3]
        ]
        for product in products
    ]
    first, second = "G12-sheet-01-run-25.pdf", "G12-sheet-02-run-13.pdf"
    assert named[0][:2] == [("JobID", "1001-1"), ("PiecesPerSheet", f"5 on {first}")]
    assert named[1] == [
        ("JobID", "1002-1"),
        ("PiecesPerSheet", f"10 on {first}"),
        ("PiecesPerSheet", f"4 on {second}"),
    ]
    contacts = root.findall("x:ResourceSet[@Name='Contact']/x:Resource", SPACES)
    assert [dict(_only(contact, "x:Part").attrib) for contact in contacts] == [
        {"ContactType": "Delivery", "DropID": f"Drop-{number}"} for number in (1, 2)
    ]
    assert [_only(contact, ".//x:Person").get("FamilyName") for contact in contacts] == ["O’Neill", "Cher"]
    drops = root.findall("x:ResourceSet[@Name='DeliveryParams']/x:Resource", SPACES)
    assert [
        (_only(drop, "x:Part").get("DropID"), dict(_only(drop, ".//x:DropItem").attrib)) for drop in drops
    ] == [
        ("Drop-1", {"Amount": "100", "ItemRef": "Product-1"}),
        ("Drop-2", {"Amount": "250", "ItemRef": "Product-2"}),
    ]
    sheets = root.findall("x:ResourceSet[@Name='RunList']/x:Resource", SPACES)
    assert [_only(sheet, "x:Part").get("Run") for sheet in sheets] == ["Run-1", "Run-2"]
    specs = [_only(sheet, ".//x:FileSpec") for sheet in sheets]
    assert [(spec.get("URL"), spec.get(f"{{{OWN_NAMESPACE}}}Run")) for spec in specs] == [
        (first, "25"),
        (second, "13"),
    ]
    assert _only(root, ".//x:Layout").get("WorkStyle") == "WorkAndTurn"
    pressed = root.findall("x:ResourceSet[@Name='Component'][@Usage='Output']/x:Resource", SPACES)
    assert [
        (_only(resource, "x:Part").get("Run"), dict(_only(resource, ".//x:PartAmount").attrib))
        for resource in pressed
    ] == [("Run-1", {"Amount": "20", "Waste": "5"}), ("Run-2", {"Amount": "13"})]
    _follows_schema(ticket)


def test_check_needs_a_schema_and_names_lines(tmp_path, monkeypatch, capsys):
    ticket = tmp_path / "job.xjdf"
    ticket.write_bytes(write_xjdf(made_job()))
    monkeypatch.delenv(VARIABLE, raising=False)
    assert main([str(ticket)]) == 2
    assert VARIABLE in capsys.readouterr().err
    schema = tmp_path / "small.xsd"
    schema.write_text(
        '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="http://www.CIP4.org/JDFSchema_2_0">'
        '<xs:element name="XJDF"><xs:complexType><xs:sequence/></xs:complexType></xs:element></xs:schema>'
    )
    monkeypatch.setenv(VARIABLE, str(schema))
    assert main([str(ticket)]) == 1
    assert f"{ticket}: Line 2: " in capsys.readouterr().out


def test_check_runs_as_a_command_without_settings():
    done = subprocess.run(
        [sys.executable, "-m", "production.tickets.check"],
        env={name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 2
    assert "Name the tickets" in done.stderr
