"""Properties of every plan, and the waste of the demo's own mix."""

import itertools
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from printing.imposition import GangRequest, PressSheet, plan_sheets
from printing.imposition.runs import plan_runs

CARD = (88.9, 50.8, 3.175)
POSTCARD = (152.4, 101.6, 3.175)


def _request(number, quantity, size=CARD, is_two_sided=True, preset="16 pt", is_head_to_foot=False):
    width, height, bleed = size
    return GangRequest(number, width, height, bleed, quantity, is_two_sided, preset, is_head_to_foot)


REQUESTS = st.lists(
    st.tuples(
        st.integers(1, 5000),
        st.sampled_from([CARD, POSTCARD, (50.0, 50.0, 0.0)]),
        st.booleans(),
        st.just("16 pt"),
        st.booleans(),
    ),
    min_size=1,
    max_size=30,
).map(lambda rows: [_request(f"{1000 + at}-1", *row) for at, row in enumerate(rows)])
SHEETS = st.builds(
    PressSheet,
    width_mm=st.sampled_from([450.0, 482.6, 330.0]),
    height_mm=st.sampled_from([320.0, 330.2]),
    gutter_mm=st.sampled_from([0.0, 3.0, 6.35]),
    slug_mm=st.sampled_from([0.0, 7.0]),
    turn=st.sampled_from(["sheetwise", "work_and_turn", "work_and_tumble"]),
    flip=st.sampled_from(["left_right", "top_bottom"]),
)


def _box(place, bleed):
    return (
        place.x_mm - bleed,
        place.y_mm - bleed,
        place.x_mm + place.width_mm + bleed,
        place.y_mm + place.height_mm + bleed,
    )


def _overlap(first, second):
    return (
        min(first[2], second[2]) - max(first[0], second[0]) > 1e-6
        and min(first[3], second[3]) - max(first[1], second[1]) > 1e-6
    )


@settings(max_examples=60, deadline=None)
@given(REQUESTS, SHEETS)
def test_every_plan_covers_fits_and_wastes_little(requests, sheet):
    plan = plan_sheets(requests, sheet)
    assert all(plan.produced[request.job_number] >= request.quantity for request in requests)
    assert plan.ordered == {request.job_number: request.quantity for request in requests}
    assert [sheet.number for sheet in plan.sheets] == list(range(1, len(plan.sheets) + 1))
    kinds = {request.job_number: request.kind for request in requests}
    for planned in plan.sheets:
        assert len({kinds[number] for number in planned.counts}) == 1
        assert planned.run >= 1
        for side in (planned.fronts, planned.backs):
            boxes = [_box(place, planned.bleed_mm) for place in side]
            edge = sheet.margin_mm - 1e-6
            for box in boxes:
                assert edge <= box[0] <= box[2] <= sheet.width_mm - edge
                assert edge <= box[1] <= box[3] <= sheet.height_mm - edge
            assert not any(_overlap(one, other) for one, other in itertools.combinations(boxes, 2))
    _check_waste(plan, requests)


def _check_waste(plan, requests):
    """10% at most, but for the places of one sheet that a small group cannot fill."""
    for kind in {request.kind for request in requests}:
        members = {request.job_number for request in requests if request.kind == kind}
        sheets = [sheet for sheet in plan.sheets if members & set(sheet.counts)]
        ordered = sum(plan.ordered[number] for number in members)
        made = sum(sheet.run * sum(sheet.counts.values()) for sheet in sheets)
        places = max(sum(sheet.counts.values()) for sheet in sheets)
        assert made - ordered <= max(0.1 * made, 2 * places)


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(st.integers(1, 10**6).map(str), st.integers(1, 50_000), min_size=1, max_size=60),
    st.integers(1, 60),
)
def test_runs_give_each_job_its_options(quantities, slots):
    layouts = plan_runs(quantities, slots)
    made = dict.fromkeys(quantities, 0)
    for run, counts in layouts:
        assert 1 <= sum(counts.values()) <= slots
        for number, count in counts.items():
            made[number] += run * count
    assert all(made[number] >= quantities[number] for number in quantities)
    paper, total = sum(run * slots for run, _ in layouts), sum(quantities.values())
    assert paper - total < max(0.04 * paper + 1, slots)


QUANTITIES = st.dictionaries(st.integers(1, 999).map(str), st.integers(1, 3000), min_size=1, max_size=25)


@settings(max_examples=60, deadline=None)
@given(QUANTITIES, st.integers(1, 40), st.sampled_from([0, 3, 5]), st.sampled_from([0, 10, 25]))
def test_runs_need_no_more_sheets_than_layouts_that_are_all_full(quantities, slots, percent, least):
    overs = PressSheet(overs_percent=percent, overs_least=least).overs
    layouts = plan_runs(quantities, slots, overs)
    full = _full_layouts(quantities, slots)

    made = {number: sum(run * counts.get(number, 0) for run, counts in layouts) for number in quantities}
    assert all(made[number] >= quantities[number] for number in quantities)
    assert all(1 <= sum(counts.values()) <= slots for _, counts in layouts)
    assert _with_overs(layouts, overs) <= _with_overs(full, overs)
    assert layouts == plan_runs(dict(reversed(quantities.items())), slots, overs)


def _with_overs(layouts, overs):
    return sum(run + overs(run) for run, _ in layouts)


def _full_layouts(quantities, slots):
    """The former planner: the longest run that fills all slots, again and again, until one layout takes the rest."""
    left, layouts = dict(quantities), []
    least, total = -(-sum(quantities.values()) // slots), sum(quantities.values())
    while left:
        used = sum(run for run, _ in layouts)
        if len(left) <= slots:
            run = next(
                run for run in itertools.count(1) if sum(-(-count // run) for count in left.values()) <= slots
            )
            if used + run <= least or 1 - total / ((used + run) * slots) <= 0.04:
                return [*layouts, (run, {number: -(-count // run) for number, count in left.items()})]
        runs = range(1, max(left.values()) + 1)
        run = max((run for run in runs if sum(count // run for count in left.values()) >= slots), default=1)
        counts, free = {}, slots
        for number in sorted(left, key=lambda number: (-left[number], number)):
            if taken := min(free, left[number] // run):
                counts[number], free = taken, free - taken
        layouts.append((run, counts))
        left = {number: count - run * counts.get(number, 0) for number, count in left.items()}
        left = {number: count for number, count in left.items() if count > 0}
    return layouts


@pytest.mark.parametrize(
    ("quantities", "slots", "layouts", "sheets"),
    [
        ({"1": 100, "2": 250}, 4, 2, 108),
        ({"1": 248, "2": 100, "3": 2}, 4, 2, 109),
        ({"1": 100, "2": 200}, 16, 1, 30),
        ({"1": 50, "2": 125}, 4, 1, 60),
    ],
)
def test_layout_with_overs_is_spared_where_a_longer_run_does(quantities, slots, layouts, sheets):
    overs = PressSheet(overs_percent=5, overs_least=10).overs
    found = plan_runs(quantities, slots, overs)
    assert (len(found), _with_overs(found, overs)) == (layouts, sheets)


@pytest.mark.parametrize("turn", ["work_and_turn", "work_and_tumble"])
def test_two_cards_more_lengthen_a_run_and_make_no_layout(turn):
    requests = [_request("1-1", 100, POSTCARD), _request("2-1", 250, POSTCARD)]
    plan = plan_sheets(requests, PressSheet(turn=turn, overs_percent=5, overs_least=10))
    assert [(sheet.run, sheet.overs) for sheet in plan.sheets] == [(63, 10), (25, 10)]
    assert plan.waste == pytest.approx(1 - 350 / (108 * 4))


def test_hundred_jobs_are_planned_in_seconds():
    quantities = {f"{at}-1": 50 + at * 7919 % 4000 for at in range(100)}
    began = time.process_time()
    for slots in (2, 21):
        plan_runs(quantities, slots, PressSheet(overs_percent=5, overs_least=10).overs)
    assert time.process_time() - began < 10


def test_waste_counts_overs():
    plan = plan_sheets([_request("1-1", 210)], PressSheet(overs_least=30))
    [planned] = plan.sheets
    assert (plan.printed, planned.run) == (planned.run + 30, 10)
    assert plan.waste == pytest.approx(0.75)


@settings(max_examples=60, deadline=None)
@given(REQUESTS, SHEETS)
def test_back_lies_behind_its_front_and_as_its_piece_turns(requests, sheet):
    turned = {request.job_number: 180 * request.is_head_to_foot for request in requests}
    for planned in plan_sheets(requests, sheet).sheets:
        fronts = [place for place in planned.fronts if place.page == 1]
        backs = planned.backs or [place for place in planned.fronts if place.page == 2]
        if not backs:
            continue
        is_tumbled = (sheet.turn, sheet.flip) == (
            "sheetwise",
            "top_bottom",
        ) or sheet.turn == "work_and_tumble"
        for front, back in zip(fronts, backs, strict=True):
            assert (back.job_number, back.page) == (front.job_number, 2)
            seen_x = back.x_mm if is_tumbled else sheet.width_mm - back.x_mm - back.width_mm
            seen_y = sheet.height_mm - back.y_mm - back.height_mm if is_tumbled else back.y_mm
            assert (seen_x, seen_y) == pytest.approx((front.x_mm, front.y_mm))
            # Where the top of the back points, seen through the paper, the top or foot of the front points.
            mirrored = (180 - back.rotation) if is_tumbled else -back.rotation
            assert (mirrored - front.rotation) % 360 == turned[front.job_number]


def test_pieces_that_turn_otherwise_share_no_sheet():
    requests = [
        _request("1001-1", 100),
        _request("1002-1", 100, is_head_to_foot=True),
        _request("1003-1", 100, is_two_sided=False),
        _request("1004-1", 100, is_two_sided=False, is_head_to_foot=True),
    ]

    plan = plan_sheets(requests, PressSheet())

    shared = sorted(sorted(planned.counts) for planned in plan.sheets)
    assert shared == [["1001-1"], ["1002-1"], ["1003-1", "1004-1"]]


def test_demo_mix_wastes_a_tenth_at_most():
    cards = [100, 100, 200, 250, 250, 300, 500, 500, 500, 1000, 1000, 2500]
    postcards = [50, 100, 100, 250, 250, 500, 1000]
    requests = [_request(f"{1000 + at}-1", quantity) for at, quantity in enumerate(cards)]
    requests += [_request(f"{2000 + at}-1", quantity, POSTCARD) for at, quantity in enumerate(postcards)]
    for turn in ("sheetwise", "work_and_turn", "work_and_tumble"):
        plan = plan_sheets(requests, PressSheet(turn=turn))
        assert plan.waste <= 0.10, (turn, plan.waste)
        assert len(plan.sheets) <= 10, (turn, len(plan.sheets))


@pytest.mark.parametrize(
    ("width", "height", "places"), [(450, 320, 4), (457, 305, 4), (483, 330, 4), (508, 356, 9)]
)
def test_postcards_fit_as_often_as_the_help_of_the_sheet_size_says(width, height, places):
    [planned] = plan_sheets([_request("1-1", 36, POSTCARD)], PressSheet(width, height)).sheets
    assert len(planned.fronts) == places


def test_order_of_requests_does_not_matter():
    requests = [_request(f"{at}-1", 100 * at) for at in range(1, 9)]
    assert plan_sheets(requests, PressSheet()) == plan_sheets(requests[::-1], PressSheet())


def test_presets_and_sizes_never_share_a_sheet():
    requests = [
        _request("1-1", 100),
        _request("2-1", 100, preset="14 pt"),
        _request("3-1", 100, POSTCARD),
        _request("4-1", 100, is_two_sided=False),
    ]
    plan = plan_sheets(requests, PressSheet())
    assert sorted(sorted(sheet.counts) for sheet in plan.sheets) == [["1-1"], ["2-1"], ["3-1"], ["4-1"]]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: plan_sheets([_request("1-1", 1, (700.0, 50.0, 0.0))], PressSheet()),
            "1-1: 700 by 50 mm .* does not fit",
        ),
        (
            lambda: plan_sheets([_request("1-1", 1), _request("1-1", 2)], PressSheet()),
            "Name each job only once",
        ),
        (lambda: _request("1-1", 0), "1-1: the quantity"),
        (lambda: _request("1-1", 1, (float("nan"), 1.0, 0.0)), "1-1: width and height"),
        (lambda: PressSheet(gutter_mm=-1), "gutter_mm"),
        (lambda: PressSheet(turn="perfecting"), "turn must be"),
    ],
)
def test_unplannable_sheet_is_explained(make, message):
    with pytest.raises(ValueError, match=message):
        make()
