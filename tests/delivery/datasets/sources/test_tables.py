import pytest

from delivery.datasets.problems import BadRouteFile
from tests.factories.delivery import HEADER

LINES = ["84101,C001,600,40,640", "84101,R002,500,0,500", "00501,B001,80,9,89"]
EXPECTED = {"84101C001": (600, 40), "84101R002": (500, 0), "00501B001": (80, 9)}


def table(*lines: str, header: str = HEADER, end: str = "\n") -> str:
    return end.join([header, *lines]) + end


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
def test_delimiters_and_line_ends(gather, delimiter, end):
    gathered = gather(table(*LINES, end=end).replace(",", delimiter))

    assert (gathered.routes, gathered.flaws) == (EXPECTED, [])


def test_bom_and_missing_last_line_end(gather):
    assert gather(b"\xef\xbb\xbf" + table(*LINES).rstrip().encode()).routes == EXPECTED


def test_cp1252_bytes_among_utf8(gather):
    header = "City," + HEADER
    content = table("Cañon,84101,C001,600,40,640", header=header).encode("cp1252")
    content += "Zoë,84101,R002,500,—,500\n".encode()
    content += "Zoë,00501,B001,80,9,89\n".encode("cp1252") + b"x,84102,C001,5,\x97,5\n"

    assert gather(content).routes == {**EXPECTED, "84102C001": (5, 0)}


def test_unsorted_lines_and_more_than_one_batch(gather):
    lines = [f"{84100 + number % 10},C{number // 10:03d},1,2,3" for number in range(9990)]

    gathered = gather(table(*lines))

    assert len(gathered.routes) == 9990
    assert gathered.flaws == []


def test_every_line_around_the_header_search_is_read(gather):
    lines = [f"84101,C{number:03d},1,2,3" for number in range(25)]

    assert len(gather("Report of today\n\n" + table(*lines)).routes) == 25


@pytest.mark.parametrize(
    "header",
    [
        "zip,route,residential,business,total",
        "Zip Code,Carrier Route,Residential Count,Business Count,Total Count",
        "ZIP5,CRRT,RES,BUS,TOT",
        "Postal-Code,CR,Res_Count,Bus_Count,Deliveries",
        '"ZIP","CRID","RESCNT","BUSCNT","TOTCNT"',
    ],
)
def test_column_aliases(gather, header):
    assert gather(table(*LINES, header=header)).routes == EXPECTED


def test_columns_in_any_order_with_others_between(gather):
    header = "Age: 30-65,Total,Route,Income,Business,Residential"
    lines = ["45%,640,84101-C001,$51000,40,600", "45%,500,84101R002,$51000,0,500", "-,89,00501B001,-,9,80"]

    assert gather(table(*lines, header=header)).routes == EXPECTED


def test_chosen_columns_win(gather):
    header = "Place,Carrier,Homes,Firms,residential"
    lines = [f"{line[:-4]},9999" for line in ("84101,C001,600,40,640",)]

    gathered = gather(
        table(*lines, header=header),
        choices={"zip": "Place", "route": "Carrier", "residential": "Homes", "business": "4"},
    )

    assert gathered.routes == {"84101C001": (600, 40)}


def test_columns_by_number_without_a_header(gather):
    choices = {"zip": "1", "route": "2", "residential": "3", "business": "4"}

    assert gather("\n".join(LINES), choices=choices).routes == EXPECTED


def test_postal_code_for_a_table_without_one(gather):
    content = "Route\tResidential\tBusiness\tTotal\nC001\t1,600\t40\t1640\n"

    gathered = gather(content, postal_code="84101")

    assert gathered.routes == {"84101C001": (1600, 40)}
    assert gathered.flaws == [(2, "W_COMMA")]


@pytest.mark.parametrize(
    ("line", "flaw"),
    [
        ("84101,C001,600", "E_SHAPE"),
        ("8410X,C001,600,40,640", "E_ZIP"),
        ("84101,Z001,600,40,640", "E_ROUTE"),
        ("84101,C001,many,40,640", "E_COUNT"),
        ("84101,C001,600,100000,640", "E_COUNT"),
        ("84101,C001,,,640", "E_EMPTY"),
        ("84101,C001,,40,39", "E_EMPTY"),
    ],
)
def test_line_that_is_rejected(gather, line, flaw):
    gathered = gather(table("84102,C001,1,1,2", line))

    assert (gathered.flaws, gathered.log.rejects) == ([(3, flaw)], 1)
    assert gathered.routes == {"84102C001": (1, 1)}


@pytest.mark.parametrize(
    ("line", "flaw", "routes"),
    [
        ("501,C001,600,40,640", "W_ZERO_LOST", {"00501C001": (600, 40)}),
        ("84101,COO1,600,40,640", "W_LETTER_O", {"84101C001": (600, 40)}),
        ("84101,C1,600,40,640", "W_SHORT", {"84101C001": (600, 40)}),
        ('84101,C001,"1,600",40,1640', "W_COMMA", {"84101C001": (1600, 40)}),
        ("84101,C001,600,40,641", "W_TOTAL", {"84101C001": (600, 40)}),
        ("84101,C001,,40,640", "W_DERIVED", {"84101C001": (600, 40)}),
        ("84101,C001,600,,640", "W_DERIVED", {"84101C001": (600, 40)}),
        ("84101,R777,600,40,640", "W_PHANTOM", {}),
        ("TOTAL,,600,40,640", "W_FOOTER", {}),
        ("Total:,600", "W_FOOTER", {}),
        ("84102,C001,1,1,2", "W_DUP_SAME", {}),
    ],
)
def test_line_that_is_taken_with_a_warning(gather, line, flaw, routes):
    gathered = gather(table("84102,C001,1,1,2", line))

    assert (gathered.flaws, gathered.log.rejects) == ([(3, flaw)], 0)
    assert gathered.routes == {"84102C001": (1, 1), **routes}


def test_route_with_other_counts_keeps_the_first(gather):
    gathered = gather(table("84101,C001,600,40,640", "84101,C001,601,40,641"))

    assert gathered.log.listed == [(3, "CRID_ID", "C001", "E_DUP_DIFF")]
    assert gathered.routes == {"84101C001": (600, 40)}


def test_blank_lines_are_nothing(gather):
    assert gather(table(LINES[0], "", ",,,,", *LINES[1:])).flaws == []


def test_problems_name_the_files_own_column_and_its_line(gather):
    gathered = gather(
        "note\n"
        + table("84101,C001,600,many,640", header="ZIP,Route,Homes,BUS,TOT").replace("Homes", "RES_CNT")
    )

    assert gathered.log.listed == [(3, "BUS", "many", "E_COUNT")]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("a,b,c\n1,2,3\n", "No column for zip, route, residential, business was found"),
        ("ZIP,CRRT,RES\n84101,C001,5\n", "No column for business"),
        ("", "empty"),
        (b"\xff\xfeZ\x00I\x00P\x00", "UTF-16"),
        (b"%PDF-1.7 ....", "not a text file"),
    ],
)
def test_file_that_is_refused(gather, content, says):
    with pytest.raises(BadRouteFile, match=says):
        gather(content)


def test_quote_that_is_never_closed(gather):
    with pytest.raises(BadRouteFile, match="near line 2"):
        gather(table('84101,C001,"600,40,640', *LINES * 10_000))


def test_quote_that_meets_another_one_far_below_swallows_no_lines(gather):
    lines = ['84101,C001,"600,40,640', *LINES * 100, '84101,C002,600",40,640', *LINES]

    with pytest.raises(BadRouteFile, match="an opening quote is not closed within 20 lines"):
        gather(table(*lines))
