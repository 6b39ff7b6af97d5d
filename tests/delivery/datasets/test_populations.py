import json

from hypothesis import given, settings
from hypothesis import strategies as st

from delivery.datasets.populations import (
    BASE,
    count_totals,
    format_routes,
    pack,
    parse_routes,
    render_body,
    sum_types,
)

counts = st.builds(pack, st.integers(0, 99_999), st.integers(0, 99_999))
routes = st.dictionaries(st.from_regex(r"[CRHBG][0-9]{3}", fullmatch=True), counts, max_size=40)
types = st.sampled_from(["CRH", "CRHB", "C", "B"])
some = settings(max_examples=50, deadline=None)


@some
@given(st.from_regex(r"[0-9]{5}", fullmatch=True), routes, types)
def test_body_sums_equal_the_counts(postal_code, routes, types):
    body, residential, business = render_body(postal_code, routes, types)

    shown = json.loads(body)
    assert list(shown) == ["PostalCode", "ResidentialCount", "BusinessCount", "TotalCount", "Routes"]
    assert shown["PostalCode"] == postal_code
    assert shown["ResidentialCount"] == residential == sum(r["ResidentialCount"] for r in shown["Routes"])
    assert shown["BusinessCount"] == business == sum(r["BusinessCount"] for r in shown["Routes"])
    assert shown["TotalCount"] == residential + business == sum(r["TotalCount"] for r in shown["Routes"])
    assert [r["CarrierRouteID"] for r in shown["Routes"]] == sorted(r for r in routes if r[0] in types)
    assert all(
        pack(r["ResidentialCount"], r["BusinessCount"]) == routes[r["CarrierRouteID"]]
        for r in shown["Routes"]
    )


@some
@given(routes)
def test_stored_text_reads_back(routes):
    assert {
        route: pack(homes, firms) for route, homes, firms in parse_routes(format_routes(routes))
    } == routes


@some
@given(st.dictionaries(st.from_regex(r"[0-9]{5}", fullmatch=True), routes, max_size=5), types)
def test_totals_are_the_sums_of_the_bodies(populations, types):
    bodies = [render_body(code, routes, types) for code, routes in populations.items()]

    count, residential, business = sum_types(count_totals(populations), types)

    assert residential == sum(body[1] for body in bodies)
    assert business == sum(body[2] for body in bodies)
    assert count == sum(len(json.loads(body[0])["Routes"]) for body in bodies)
    assert BASE == 100_000
