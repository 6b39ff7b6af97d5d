"""Plates of tools overprint, and nothing else does."""

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name

from printing.press.die_lines import is_tool, overprint_tools


@pytest.mark.parametrize("name", ["CutContour", "Thru-cut", "Kiss Cut", "Die Line", "PERFORATION", "Crease"])
def test_names_of_tools_are_known_however_they_are_written(name):
    assert is_tool(name)


@pytest.mark.parametrize("name", ["Cyan", "PANTONE 485 C", "White", "Varnish", "Cut Gold", ""])
def test_inks_are_no_tools(name):
    assert not is_tool(name)


@pytest.mark.parametrize(
    ("content", "written"),
    [
        ("/Cut CS 1 SCN 0 0 9 9 re S", "/Overprint01 gs /Cut CS 1 SCN 0 0 9 9 re S"),
        ("q /Cut cs 1 scn f Q f", "q /Overprint10 gs /Cut cs 1 scn f Q f"),
        ("/Cut CS 1 SCN S 0 G S", "/Overprint01 gs /Cut CS 1 SCN S /Overprint00 gs 0 G S"),
        ("/Cut CS 0 g /X Do B", "/Overprint01 gs /Cut CS 0 g /Overprint00 gs /X Do /Overprint01 gs B"),
        ("/Gold CS 1 SCN S", "/Gold CS 1 SCN S"),
    ],
)
def test_what_is_painted_with_a_tool_overprints_and_nothing_after_it(content, written):
    with pikepdf.new() as pdf:
        tint = Dictionary(FunctionType=2, Domain=[0, 1], C0=[0, 0, 0, 0], C1=[0, 1, 0, 0], N=1)
        page = pdf.add_blank_page().obj
        page.Resources = Dictionary(
            ColorSpace=Dictionary(
                Cut=Array([Name.Separation, Name.CutContour, Name.DeviceCMYK, tint]),
                Gold=Array([Name.Separation, Name.Gold, Name.DeviceCMYK, tint]),
            )
        )
        page.Contents = pdf.make_stream(content.encode())
        overprint_tools(pdf)

        assert b" ".join(page.Contents.read_bytes().split()) == written.encode()
        for name, state in page.Resources.ExtGState.items():
            assert (f"{state.op:d}", f"{state.OP:d}") == tuple(name[-2:])
