"""What a rule looks at, one condition after the other, and which provider of it gets the job."""

from datetime import UTC, datetime

import pytest

from production.providers.models import Provider
from production.routing.models import RoutingChoice, RoutingRule
from production.routing.selectors import Candidate, ItemFacts, Routing, mismatch, pick
from tests.factories.production import make_provider, make_rule

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
FACTS = ItemFacts(store_pk=1, product_pk=2, category="Cards", country="US", quantity=500)


@pytest.mark.parametrize(
    ("conditions", "reason"),
    [
        ({}, ""),
        ({"store_id": 1, "product_id": 2, "category": "cards", "countries": ["CA", "US"]}, ""),
        ({"minimum_quantity": 500, "maximum_quantity": 500}, ""),
        ({"store_id": 3}, "it is for another store"),
        ({"product_id": 3}, "it is for another product"),
        ({"category": "Posters"}, "it is for the category Posters"),
        ({"countries": ["CA", "MX"]}, "it is for CA, MX"),
        ({"minimum_quantity": 501}, "it is for 501 and more"),
        ({"maximum_quantity": 499}, "it is for 499 at most"),
    ],
)
def test_rule_fits_where_all_of_its_conditions_do(conditions, reason):
    assert mismatch(RoutingRule(name="Rule", **conditions), FACTS) == reason


def test_item_without_a_country_or_category_fits_no_rule_that_names_one():
    bare = ItemFacts(1, 2, "", "", 500)
    assert mismatch(RoutingRule(countries=["US"]), bare)
    assert mismatch(RoutingRule(category="Cards"), bare)


def _candidate(key, priority=1, share=1, jobs=0, obstacle=""):
    choice = RoutingChoice(pk=key, provider=Provider(pk=key, code=str(key)), priority=priority, share=share)
    return Candidate(choice, jobs, obstacle)


@pytest.mark.parametrize(
    ("candidates", "chosen"),
    [
        ([_candidate(1, priority=2), _candidate(2, priority=1)], 2),
        ([_candidate(1, priority=2), _candidate(2, priority=1, obstacle="it is down")], 1),
        ([_candidate(1, share=3, jobs=2), _candidate(2, share=1, jobs=1)], 1),
        ([_candidate(1, share=3, jobs=3), _candidate(2, share=1, jobs=0)], 2),
        ([_candidate(1, obstacle="it is disabled")], None),
        ([], None),
    ],
)
def test_first_priority_that_is_free_gets_the_job_and_shares_divide_it(candidates, chosen):
    found = pick(candidates)
    assert (found and found.choice.pk) == chosen


@pytest.mark.django_db
def test_first_rule_by_position_decides_and_the_passed_ones_say_why(settings, tmp_path):
    settings.PRODUCTION_FOLDERS = [tmp_path]
    near, far = make_provider(tmp_path, "near"), make_provider(tmp_path, "far")
    make_rule(far, name="Everything", position=30)
    make_rule(near, name="Canada", position=10, countries=["CA"])
    make_rule(near, name="Small", position=20, maximum_quantity=100)
    make_rule(near, name="Off", position=5, is_enabled=False)

    def tested(**changes):
        values = {"store_pk": 1, "product_pk": 2, "category": "", "country": "US", "quantity": 500, **changes}
        decision = Routing(NOW).decide(ItemFacts(**values))
        assert decision.rule is not None
        assert decision.chosen is not None
        passed = [(rule.name, reason) for rule, reason in decision.passed]
        return decision.rule.name, decision.chosen.provider, passed

    assert tested(country="CA") == ("Canada", near, [])
    assert tested(quantity=50) == ("Small", near, [("Canada", "it is for CA")])
    not_small = ("Small", "it is for 100 at most")
    assert tested() == ("Everything", far, [("Canada", "it is for CA"), not_small])


@pytest.mark.django_db
def test_candidate_that_refused_is_told_from_one_that_is_passed_over(settings, tmp_path):
    settings.PRODUCTION_FOLDERS = [tmp_path]
    refused, passed, free = (make_provider(tmp_path, code) for code in ("refused", "passed", "free"))
    make_rule(refused, passed, free)

    decision = Routing(NOW).decide(FACTS, excluded=[refused.pk, passed.pk], refused_by=[refused.pk])

    found = [(candidate.provider, candidate.has_refused) for candidate in decision.candidates]
    assert found == [(refused, True), (passed, False), (free, False)]
    assert decision.chosen is not None
    assert decision.chosen.provider == free
