"""What the Medusa plug-in does with what buyers send, without a shop; tests/shop has the whole."""

import json
from collections import Counter

import pytest

from tests.support.servers.client_library import ROOT, run

pytestmark = pytest.mark.slow
PROGRAM = ROOT / "tests/clients/programs/medusa-parts.cjs"


@pytest.fixture(scope="module")
def answers(npm_project):
    sources = ROOT / "clients/medusa/src"
    return json.loads(run("node", PROGRAM, npm_project / "node_modules/typescript", sources))


def test_buyers_change_no_value_of_the_mapping(answers):
    assert answers["fields"] == {"Name": "Ada", "Email": "office@example.com"}
    assert answers["untyped"] == {"Email": "office@example.com"}


def test_files_sent_at_once_do_not_fill_the_memory(answers):
    """Twelve of 31 MB: as many are taken as 256 MB hold, and room is given back."""
    assert Counter(answers["crowd"]) == {201: 8, 503: 4}
    assert answers["large"] == "The PDF has more than 32 MB."
    assert answers["after"] == [201] * 8


def test_order_whose_price_rose_since_its_buyer_saw_it_is_held(answers):
    """Also where other buyers were shown the new price since; a person who retries accepts it."""
    held, retried = answers["late"]["held"], answers["late"]["retried"]
    assert held["state"] == "held"
    assert held["orders"] == []
    assert held["problem"].startswith("The price rose from 10 to 12 USD")
    assert retried == {"state": "placed", "orders": ["q1"]}


def test_product_with_too_many_options_is_priced_by_its_method(answers):
    """A surcharge is the difference to other methods: shops that charge it are told."""
    assert answers["long"] == ["12", True]


def test_quotes_that_ended_two_months_ago_are_deleted(answers):
    assert answers["kept"] == 1
