import io

import pikepdf
import pytest
from pypdf import PdfReader

from delivery.papers.official_form import (
    append_forms,
    check_mapping,
    copies_needed,
    fill_forms,
    read_field_names,
    suggest_mapping,
)
from delivery.papers.planning import DropRoute, plan_drops
from delivery.papers.sheets import make_sheets
from fulfillment.core.errors import Invalid
from tests.factories.forms import FIELDS, make_form
from tests.factories.mailings import PRICE, make_mailing

ROUTES = [DropRoute("84101", f"C{number:03}", "MAIN", 240) for number in range(1, 6)]


def refusal(call, *values):
    with pytest.raises(Invalid) as caught:
        call(*values)
    return [(fault.pointer, fault.code) for fault in caught.value.faults]


def test_fields_are_read_and_suggested_by_their_names():
    names = read_field_names(make_form())

    assert names == FIELDS
    assert suggest_mapping(names) == {
        "mailer": "Mailer Name",
        "office": "Post Office of Mailing",
        "date": "Mailing Date",
        "pieces": "Total Pieces",
        "postage": "Total Postage",
        "crid": "CRID",
        "payment": "Method of Payment",
        "row_code": "ZIP{n}",
        "row_route": "Route{n}",
        "row_pieces": "Pieces{n}",
    }


def test_each_drop_gets_as_many_filled_copies_as_its_routes_need():
    content, names = make_form(), FIELDS
    mapping = suggest_mapping(names)
    mailing = make_mailing(crid="4077123", payment="check")
    sheets = make_sheets(mailing, plan_drops(ROUTES), lambda day: PRICE)

    copies = fill_forms(content, mapping, names, sheets)

    assert len(copies) == copies_needed(mapping, names, sheets) == 3
    texts = [PdfReader(io.BytesIO(copy)).pages[0].extract_text() for copy in copies]
    for text in texts:
        for value in ("Dana Example", "MAIN", "11/23/2026", "1,200", "296.40", "4077123", "check"):
            assert value in text
    found = [route.carrier_route for route in ROUTES for text in texts if route.carrier_route in text]
    assert found == [route.carrier_route for route in ROUTES]
    assert "/AcroForm" not in PdfReader(io.BytesIO(copies[0])).trailer["/Root"]
    joined = PdfReader(io.BytesIO(append_forms(content, copies)))
    assert len(joined.pages) == 4


def test_letters_no_form_has_do_not_break_it():
    sheets = make_sheets(make_mailing(mailer=["Дана 你好"]), plan_drops(ROUTES[:1]), lambda day: None)

    [copy] = fill_forms(make_form(), {"mailer": "Mailer Name"}, FIELDS, sheets)

    assert "????" in PdfReader(io.BytesIO(copy)).pages[0].extract_text()


def test_mapping_names_every_field_that_is_not_there():
    wrong = {"mailer": "Name of nobody", "row_code": "ZIP", "row_route": "Row{n}", "date": ""}

    assert refusal(check_mapping, wrong, FIELDS) == [
        ("/mailer", "field_unknown"),
        ("/row_code", "row_number_missing"),
        ("/row_route", "field_unknown"),
    ]


def test_files_that_cannot_be_filled_are_refused():
    flat, locked = io.BytesIO(), io.BytesIO()
    with pikepdf.new() as pdf:
        pdf.add_blank_page()
        pdf.save(flat)
        pdf.save(locked, encryption=pikepdf.Encryption(user="secret", owner="secret"))
    refused = {
        "form_unreadable": b"%PDF-1.7 broken",
        "form_without_fields": flat.getvalue(),
        "form_locked": locked.getvalue(),
        "form_too_long": make_form(pages=13),
        "form_too_large": b"%PDF" + b" " * 5_000_000,
    }

    for code, content in refused.items():
        assert refusal(read_field_names, content) == [("/file", code)], code
