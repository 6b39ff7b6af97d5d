import random
from decimal import Decimal

import pytest

from delivery.papers.planning import DropRoute, plan_drops
from delivery.papers.sheets import make_sheets, us_phone
from tests.factories.mailings import PRICE, make_mailing, random_routes
from tests.support.cases import cases


def test_slips_and_forms_sum_to_the_routes_of_random_mailings():
    chance = random.Random(7)
    for _ in range(cases(40, 1_000)):
        routes = random_routes(chance)
        sheets = make_sheets(make_mailing(), plan_drops(routes), lambda day: PRICE)

        ordered = {route.name: route.pieces for route in routes}
        slips, forms = {}, {}
        for slip in sheets["slips"]:
            slips[slip["code"] + slip["route"]] = slips.get(slip["code"] + slip["route"], 0) + slip["pieces"]
            assert slip["barcode"] == (
                f"{slip['code']}{slip['route']}-{slip['number']}-{slip['count']}-{slip['pieces']}"
            )
        for drop in sheets["drops"]:
            assert sum(row["pieces"] for row in drop["rows"]) == drop["pieces"]
            assert sum(code["pieces"] for code in drop["codes"]) == drop["pieces"]
            for row in drop["rows"]:
                forms[row["code"] + row["route"]] = forms.get(row["code"] + row["route"], 0) + row["pieces"]
        assert slips == forms == ordered
        assert sheets["pieces"] == sum(ordered.values())
        assert sheets["bundles"] == len(sheets["slips"])
        assert sheets["routes"] == len(routes)
        assert Decimal(sheets["postage"]) == sum(Decimal(drop["postage"]) for drop in sheets["drops"])


def test_drop_below_the_minimum_and_one_without_a_price_say_so():
    [drop] = make_sheets(
        make_mailing(), plan_drops([DropRoute("84101", "C001", "MAIN", 199)]), lambda day: None
    )["drops"]

    assert [note.split(":")[0] for note in drop["notes"]] == [
        "199 pieces",
        "The price table has no postage for this day",
    ]
    assert drop["postage"] is None


def test_size_is_in_inches_with_the_length_first():
    assert make_sheets(make_mailing(), (), lambda day: PRICE)["size"] == "9 × 6.5 in"


@pytest.mark.parametrize(
    ("phone", "shown"),
    [
        ("+1 801 555 0100", "(801) 555-0100"),
        ("801.555.0100", "(801) 555-0100"),
        ("(801)555-0100", "(801) 555-0100"),
        ("+49 30 901820", "+49 30 901820"),
        ("801 555 0100 ext. 7", "801 555 0100 ext. 7"),
        ("000 000 0000", "000 000 0000"),
        ("", ""),
    ],
)
def test_us_phone_numbers_have_one_form(phone, shown):
    assert us_phone(phone) == shown
