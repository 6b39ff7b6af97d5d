import pytest

from accounts.callers import Caller
from delivery.selection.models import EddmSelection, EddmSelectionRoute
from delivery.selection.selectors.selections import routes_of_selection, selection_of_caller
from delivery.selection.services.selections import RETENTION, retain_for_order, retention_rules
from fulfillment.core.errors import NotFound
from tests.factories.delivery import load_dataset
from tests.factories.selections import make_selection


def may_read(selection, caller) -> bool:
    try:
        return selection_of_caller(caller, str(selection.pk)) == selection
    except NotFound:
        return False


def test_selection_is_seen_by_its_maker_alone(world):
    dataset = load_dataset()
    own = make_selection(dataset=dataset, user=world.user, application=world.console)
    through = make_selection(dataset=dataset, user=world.user, application=world.application)
    of_application = make_selection(dataset=dataset, application=world.application)
    person = Caller.on_pages(world.user)
    program = Caller(application_id=world.application.pk)
    both = Caller(user_id=world.user.pk, application_id=world.application.pk)

    assert [may_read(selection, person) for selection in (own, through, of_application)] == [
        True,
        True,
        False,
    ]
    assert [may_read(selection, program) for selection in (own, through, of_application)] == [
        False,
        True,
        True,
    ]
    assert [may_read(selection, both) for selection in (own, through, of_application)] == [False, True, False]
    assert not may_read(own, Caller.on_pages(world.outsider))
    assert may_read(own, Caller.on_pages(world.operator))
    with pytest.raises(NotFound):
        selection_of_caller(person, "no-uuid")


def test_selection_of_a_test_application_is_hidden_from_live_applications(world):
    test = make_selection(dataset=load_dataset(), user=world.user, application=world.console, is_test=True)

    assert may_read(test, Caller.on_pages(world.user))
    assert not may_read(test, Caller(user_id=world.user.pk, application_id=world.console.pk))


def test_routes_come_in_the_order_they_were_taken_with_their_frozen_counts(world):
    selection = make_selection(dataset=load_dataset(), user=world.user, residential_only=True)

    routes = list(routes_of_selection(selection))

    assert [(route.code, route.total, route.pieces) for route in routes] == [
        ("84101C001", 640, 600),
        ("84101C002", 500, 500),
        ("84102R001", 305, 300),
    ]
    assert selection.pieces == 1400
    assert selection.total == 1445


def test_expired_selections_are_removed_unless_an_order_was_made_from_them(world):
    dataset = load_dataset()
    long_ago = -RETENTION * 2
    old, ordered = (make_selection(dataset=dataset, user=world.user, valid_for=long_ago) for _ in range(2))
    young = make_selection(dataset=dataset, user=world.user)
    retain_for_order(selection_id=ordered.pk)
    (rule,) = retention_rules()

    assert rule.count() == 1
    assert sum(rule.remove(10)) == 1
    assert set(EddmSelection.objects.values_list("pk", flat=True)) == {ordered.pk, young.pk}
    assert not EddmSelectionRoute.objects.filter(selection_id=old.pk).exists()
