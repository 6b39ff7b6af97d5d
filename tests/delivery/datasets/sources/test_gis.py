import pytest

from delivery.datasets.problems import BadRouteFile
from tests.factories.delivery import gis_answer

ROUTE = {
    "ZIP_CRID": "84101C001", "ZIP_CODE": "84101", "CRID_ID": "C001", "TYPE": "R", "RES_CNT": 600, "BUS_CNT": 40,
    "TOT_CNT": "640", "CITY_STATE": "SALT LAKE CITY, UT", "MED_INCOME": None,
}  # fmt: skip
BOX = {"ZIP_CODE": "84101", "CRID_ID": "B001", "RES_CNT": 80.0, "BUS_CNT": 9, "TOT_CNT": 89}


@pytest.mark.parametrize("results", [True, False])
def test_answer_of_the_map_service(gather, results):
    gathered = gather(gis_answer(ROUTE, BOX, results=results))

    assert gathered.routes == {"84101C001": (600, 40), "84101B001": (80, 9)}
    assert (gathered.source.format, gathered.flaws) == ("gis-json", [])


@pytest.mark.parametrize(
    ("start", "between", "end"), [("[", ",", "]"), ("", "\n", "\n"), ("\ufeff", "\n", "")]
)
def test_several_answers_in_one_file(gather, start, between, end):
    other = {**ROUTE, "ZIP_CODE": "84102", "ZIP_CRID": "84102C001"}

    gathered = gather(start + gis_answer(ROUTE) + between + gis_answer(other) + end)

    assert gathered.routes == {"84101C001": (600, 40), "84102C001": (600, 40)}


def test_route_drawn_twice_is_taken_once(gather):
    gathered = gather(gis_answer(ROUTE, ROUTE))

    assert gathered.routes == {"84101C001": (600, 40)}
    assert gathered.flaws == [(2, "W_DUP_SAME")]


def test_older_attribute_names(gather):
    gathered = gather(gis_answer({"ZIP5": "84101", "CRID": "C001", "RESCNT": 600, "BUSCNT": 40}))

    assert gathered.routes == {"84101C001": (600, 40)}


def test_code_may_be_in_the_route_alone(gather):
    gathered = gather(gis_answer({"ZIP_CRID": "84101C001", "RES_CNT": 600, "BUS_CNT": 40}))

    assert gathered.routes == {"84101C001": (600, 40)}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"error": {"code": 400, "message": "Unable to complete", "details": []}}', "Unable to complete"),
        ('{"results": []}', "no routes"),
        (gis_answer({"NAME": "x"}), "no route or no counts"),
        (gis_answer(ROUTE, BOX)[:-60], "cut off after feature"),
        (gis_answer(ROUTE)[:60], "broken or cut off"),
    ],
)
def test_answer_that_is_refused(gather, content, says):
    with pytest.raises(BadRouteFile, match=says):
        gather(content)
