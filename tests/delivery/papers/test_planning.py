import random
from collections import Counter

import pytest

from delivery.papers.planning import DropRoute, bundle_sizes, plan_drops
from tests.factories.mailings import random_routes
from tests.support.cases import cases


def test_every_rule_holds_in_random_mailings():
    chance = random.Random(20261122)
    for _ in range(cases(200, 2_000)):
        routes = random_routes(chance)
        drops = plan_drops(routes)

        bundles, day_of_code, offices = Counter(), Counter(), set()
        numbers = {}
        for drop in drops:
            assert (drop.day, drop.entry_office) not in offices
            offices.add((drop.day, drop.entry_office))
            for route, own in drop.routes():
                bundles[route] += sum(bundle.pieces for bundle in own)
                day_of_code[route.postal_code, drop.day] += sum(bundle.pieces for bundle in own)
                numbers.setdefault(route, []).extend(own)
                assert drop.entry_office in {route.entry_office, f"Post office serving {route.postal_code}"}
        assert bundles == Counter({route: route.pieces for route in routes})
        assert max(day_of_code.values()) <= 5_000
        for route, own in numbers.items():
            sizes = [bundle.pieces for bundle in own]
            assert sorted(bundle.number for bundle in own) == list(range(1, len(own) + 1))
            assert {bundle.count for bundle in own} == {len(own)}
            assert max(sizes) <= 100
            assert min(sizes) >= 50 or sizes == [route.pieces]
            assert all(size == 100 for size in sizes[:-2])
            assert max(sizes[-2:]) - min(sizes[-2:]) <= 1


@pytest.mark.parametrize(
    ("pieces", "sizes"),
    [
        (1, [1]),
        (49, [49]),
        (100, [100]),
        (101, [51, 50]),
        (240, [100, 70, 70]),
        (299, [100, 100, 99]),
        (300, [100, 100, 100]),
        (443, [100, 100, 100, 72, 71]),
    ],
)
def test_bundles_are_full_hundreds_and_the_last_two_share(pieces, sizes):
    assert bundle_sizes(pieces) == sizes


def test_bundles_of_fifty_are_full_but_for_the_last():
    for pieces in range(1, 1_000):
        *full, last = bundle_sizes(pieces, 50)
        assert (set(full) <= {50}, sum(full) + last) == (True, pieces)
        assert 50 <= last < 100 or (pieces < 50 and not full)


def test_days_share_the_pieces_so_that_none_falls_below_the_minimum():
    routes = [DropRoute("84101", f"C{number:03}", "MAIN", 510) for number in range(10)]

    drops = plan_drops(routes)

    assert [(drop.day, drop.pieces) for drop in drops] == [(1, 2550), (2, 2550)]


def test_route_is_whole_on_one_day_unless_no_day_takes_it():
    drops = plan_drops([DropRoute("84101", "C001", "MAIN", 6_000), DropRoute("84101", "C002", "MAIN", 900)])

    days = {}
    for drop in drops:
        for route, bundles in drop.routes():
            days.setdefault(route.carrier_route, []).append((drop.day, len(bundles)))
    assert len(days["C001"]) == 2
    assert len(days["C002"]) == 1
    assert max(drop.pieces for drop in drops) <= 5_000


@pytest.mark.parametrize(
    ("routes", "message"),
    [
        ([DropRoute("84101", "C001", "", 0)], "Route 84101C001 has no pieces."),
        ([DropRoute("84101", "C001", "", 9)] * 2, "Route 84101C001 is named twice."),
    ],
)
def test_routes_that_cannot_be_mailed_are_refused(routes, message):
    with pytest.raises(ValueError, match=message):
        plan_drops(routes)
