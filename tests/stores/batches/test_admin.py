"""Batches in the console: staff see those of their stores, and approvers decide on them."""

import pytest

from stores.catalog.models import Store
from tests.support.approvals import add_approver
from tests.support.batches import access_to, checked, fresh, make_batch, ordered, person
from tests.support.order_helpers import Shop

pytestmark = pytest.mark.django_db


@pytest.fixture
def place(world):
    Store.objects.filter(pk=world.associated.pk).update(approval_above=0)
    world.batch = ordered(checked(make_batch(access_to(world), [person(1)])))
    return f"/admin/stores/batch/{world.batch.pk}"


def test_approver_denies_a_batch_with_a_reason(world, place, signed_in):
    approver = signed_in(add_approver(Shop(world)))

    other = make_batch(access_to(world), product_id="card-two-sided")
    assert approver.get(f"/admin/stores/batch/{other.pk}/change/").status_code == 404
    page = approver.get(f"{place}/change/").content.decode()
    silent = approver.post(f"{place}/decide/", {"decision": "deny"}, follow=True).content.decode()
    approver.post(f"{place}/decide/", {"decision": "deny", "note": "Too many"})

    assert "1 row" in page
    assert "A denial needs a reason" in silent
    batch = fresh(world.batch)
    assert (batch.status, batch.approval.state, batch.note) == ("Cancelled", "Denied", "Too many")
    assert approver.post(f"{place}/cancel/", {"confirmed": "1"}).status_code == 403


def test_batch_is_approved_and_cancelled_only_by_staff_who_may(world, place, signed_in):
    staff, outsider, operator = map(signed_in, (world.user, world.outsider, world.operator))

    assert staff.post(f"{place}/decide/", {"decision": "approve"}).status_code == 403
    assert outsider.get(f"{place}/change/").status_code in (302, 403)
    question = staff.post(f"{place}/cancel/").content.decode()
    operator.post(f"{place}/decide/", {"decision": "approve"})
    assert fresh(world.batch).approval.state == "Approved"
    staff.post(f"{place}/cancel/", {"confirmed": "1"})

    assert "Orders that are written stay" in question
    assert fresh(world.batch).status == "Cancelled"


def test_rows_are_shown_with_a_filter(world, place, signed_in):
    operator = signed_in(world.operator)

    page = operator.get(f"{place}/change/?state=all").content.decode()
    other = operator.get(f"{place}/change/?state=all&words=nobody+has+this").content.decode()

    assert page.count('scope="row"') == world.batch.rows.count() > 0
    assert other.count('scope="row"') == 0
