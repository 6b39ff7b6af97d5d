import pytest

from delivery.datasets.populations import Populations, count_totals, pack
from delivery.datasets.services.datasets import activation_warnings
from tests.factories.delivery import load_dataset

LIVE: Populations = {
    f"{area}{number}": {"C001": pack(100, 10)} for area in ("841", "005") for number in range(10, 20)
}


def concerns_of(populations: Populations, live, rejects: int = 0, rows: int = 1000, max_reject: float = 0.5):
    return activation_warnings(
        populations=populations,
        totals=count_totals(populations),
        route_types="CRH",
        rejects=rejects,
        rows=rows,
        max_reject=max_reject,
        live=live,
    )


def scaled(residential: int, business: int) -> Populations:
    return {code: {"C001": pack(residential, business)} for code in LIVE}


@pytest.mark.parametrize(("rejects", "count"), [(0, 0), (5, 0), (6, 1)])
def test_rejects(rejects, count):
    assert len(concerns_of(LIVE, None, rejects)) == count


def test_rejects_by_another_limit():
    assert concerns_of(LIVE, None, 6, max_reject=0.6) == []
    assert concerns_of(LIVE, None, 1, max_reject=0) == ["0.10% of the lines were rejected, more than 0%."]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("populations", "concerns"),
    [
        (LIVE, []),
        (scaled(110, 11), []),
        (scaled(90, 9), []),
        (scaled(111, 10), ["residential deliveries go from 2000 to 2220, by more than 10%."]),
        (scaled(100, 8), ["business deliveries go from 200 to 160, by more than 10%."]),
    ],
)
def test_totals_within_ten_percent(populations, concerns):
    assert concerns_of(populations, load_dataset(LIVE)) == concerns


@pytest.mark.django_db
def test_area_that_vanishes():
    moved = {code.replace("005", "006", 1): routes for code, routes in LIVE.items()}

    assert concerns_of(moved, load_dataset(LIVE)) == ["1 3-digit areas disappear: 005."]


@pytest.mark.django_db
def test_synthetic_live_set_is_no_measure():
    assert concerns_of({"10001": {"C001": pack(1, 1)}}, load_dataset(LIVE, is_synthetic=True)) == []
