"""Areas against plain mathematics over every route, and the limits."""

import math
import random

import pytest
import shapely

from accounts.callers import Caller
from delivery.datasets.services.demo import CITIES, load_demo_population
from delivery.selection.criteria import Center, Circle, Criteria, Range
from delivery.selection.selectors import candidates
from delivery.selection.services import choosing
from delivery.selection.services.choosing import choose_routes
from fulfillment.core.errors import Invalid
from tests.support.delivery.brute_force import EveryRoute, miles_between

CALLER = Caller()
PLACES = [place for city in CITIES.values() for place in city.values()]


@pytest.fixture
def dataset(db):
    return load_demo_population()


def chosen(**criteria) -> list[str]:
    try:
        choice = choose_routes(caller=CALLER, criteria=Criteria(**criteria))
    except Invalid as refusal:
        if refusal.code != "selection_empty":
            raise
        return []
    return [route.code for route in choice.routes]


def random_star(chance: random.Random) -> list[tuple[float, float]]:
    latitude, longitude = chance.choice(PLACES)
    size = 10 ** chance.uniform(-3, -0.5)
    corners = [
        (
            longitude + size * chance.uniform(0.2, 1) * math.cos(step * math.tau / 12),
            latitude + size * chance.uniform(0.2, 1) * math.sin(step * math.tau / 12),
        )
        for step in range(12)
    ]
    return [*corners, corners[0]]


def test_random_areas_select_what_plain_mathematics_over_every_route_does(dataset):
    every, chance = EveryRoute(dataset), random.Random(1)
    met = 0
    for _ in range(50):
        star = random_star(chance)
        expected = every.in_polygon(star)
        assert chosen(polygon=shapely.Polygon(star)) == sorted(expected)
        latitude, longitude = chance.choice(PLACES)
        latitude, longitude = latitude + chance.gauss(0, 0.05), longitude + chance.gauss(0, 0.05)
        miles = 10 ** chance.uniform(-1, 1.5)
        around = every.in_circle(latitude, longitude, miles)
        assert chosen(center=Center(latitude, longitude), radius=miles) == sorted(around)
        met += bool(expected) + bool(around)
    assert met > 60


def test_map_of_a_circle_is_true_in_distance_from_its_middle():
    chance = random.Random(2)
    for _ in range(200):
        circle = Circle(chance.uniform(-70, 70), chance.uniform(-170, 170), 10)
        latitude, longitude = (
            circle.latitude + chance.uniform(-2, 2),
            circle.longitude + chance.uniform(-2, 2),
        )
        away, _ = miles_between(circle.latitude, circle.longitude, latitude, longitude)
        ((east, north),) = circle.project_corners(
            shapely.get_coordinates(shapely.Point(longitude, latitude)) * 1e5
        )
        assert math.hypot(east, north) == pytest.approx(away, rel=1e-9)


def test_limit_takes_whole_routes_nearest_to_the_center_and_passes_over_what_does_not_fit(dataset):
    every = EveryRoute(dataset)
    latitude, longitude = 40.755, -111.89
    left, expected = 3000, []
    around = every.in_circle(latitude, longitude, 5)
    for code in sorted(around, key=lambda code: (around[code], code)):
        if every.pieces[code] <= left:
            expected.append(code)
            left -= every.pieces[code]

    assert chosen(center=Center(latitude, longitude), radius=5, max_pieces=3000) == expected
    assert 0 < left < 600


def test_circle_without_a_radius_grows_until_it_holds_enough(dataset):
    near = chosen(center=Center(40.755, -111.89), max_pieces=2000)
    far = chosen(center=Center(41.4, -111.89), max_pieces=2000)
    by_code = chosen(center=Center(postal_code="84101"), max_pieces=2000)

    assert len(near) >= 2
    assert far
    assert by_code[0].startswith("841")


@pytest.fixture
def measured(monkeypatch):
    """The circles whose distances were measured, in miles, and how many routes in each."""
    circles, measure = [], choosing.miles_to_routes

    def note(found, circle, matches):
        circles.append((circle.miles, int(matches.sum())))
        return measure(found, circle, matches)

    monkeypatch.setattr(choosing, "miles_to_routes", note)
    return circles


def test_growing_circle_is_not_measured_before_it_may_hold_enough(dataset, measured):
    assert chosen(center=Center(41.4, -111.89), max_pieces=2000)

    assert min(miles for miles, _ in measured) >= 32


def test_circle_stops_growing_with_too_many_routes(dataset, measured, monkeypatch):
    monkeypatch.setattr(choosing, "MAX_ROUTES", 5)

    with pytest.raises(Invalid) as refused:
        choose_routes(caller=CALLER, criteria=Criteria(center=Center(40.755, -111.89), max_pieces=10**9))

    assert refused.value.code == "too_many_routes"
    assert measured[-1][0] <= 2


def test_routes_outside_the_demographics_are_not_measured(dataset, measured):
    assert chosen(center=Center(40.755, -111.89), radius=5, max_pieces=2000, income=Range(low=10**6)) == []

    assert measured == [(5, 0)]


def test_polygon_of_many_corners_near_many_routes_is_refused(dataset, monkeypatch):
    around = shapely.Point(PLACES[0][::-1]).buffer(0.2)
    monkeypatch.setattr(candidates, "MAX_COMPARISONS", 1000, raising=False)

    with pytest.raises(Invalid) as refused:
        choose_routes(caller=CALLER, criteria=Criteria(polygon=around))

    assert (refused.value.code, refused.value.faults[0].pointer) == ("area_too_large", "/Polygon")
    # Routes outside the other criteria do not count.
    assert chosen(polygon=around, income=Range(low=10**6)) == []
    monkeypatch.setattr(candidates, "MAX_COMPARISONS", 10**6)
    assert chosen(polygon=around)


def test_limit_without_a_center_takes_routes_in_the_order_of_their_ids(dataset):
    every = chosen(postal_codes=("84101", "84102"))
    some = chosen(postal_codes=("84101", "84102"), max_pieces=1500)

    assert every == sorted(every)
    assert some == sorted(some)
    assert set(some) < set(every)


def test_all_criteria_hold_together(dataset):
    codes = ("84101", "84111", "84115")
    both = chosen(postal_codes=codes, center=Center(40.755, -111.9), radius=1.0)
    rich = chosen(
        postal_codes=codes, income=Range(60_000, 90_000), age=Range(low=30), household=Range(high=3)
    )
    choice = choose_routes(caller=CALLER, criteria=Criteria(postal_codes=codes, residential_only=True))

    assert both == sorted(
        set(chosen(center=Center(40.755, -111.9), radius=1.0)) & set(chosen(postal_codes=codes))
    )
    known = {route.code: route for route in choice.routes}
    assert rich == [
        code
        for code, route in known.items()
        if 60_000 <= route.median_income <= 90_000 and route.median_age >= 30 and route.household_size <= 3
    ]
    assert choice.pieces == sum(route.residential for route in choice.routes)
    assert chosen(routes=(both[0], both[-1]), route_types="C") == [
        code for code in (both[0], both[-1]) if code[5] == "C"
    ]


def test_area_takes_two_queries_however_large(dataset, django_assert_num_queries):
    with django_assert_num_queries(2):
        assert chosen(center=Center(40.755, -111.89), radius=0.5)
    with django_assert_num_queries(2):
        assert len(chosen(center=Center(40.755, -111.89), radius=50)) > 80
