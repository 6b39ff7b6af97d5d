import pytest

from accounts.callers import Caller
from accounts.models import AssociationRequest
from accounts.services.associations import deny_association


@pytest.fixture
def address(world) -> str:
    return f"/applications/{world.application.pk}/stores"


def test_the_page_shows_associations_in_plain_words(world, browser, address):
    page = browser.get(address).content.decode()

    assert "Associated Print" in page
    assert "Submit orders and cancel your own" in page
    assert "Unassociated Print" not in page


def test_a_store_is_asked_for_once_and_withdrawn(world, browser, address):
    sent = {"store": "unassociated", "grants": ["Store.Self.Read"], "message": "Postcards for Acme"}

    assert browser.post(address, sent)["Location"] == address
    browser.post(address, sent)

    asked = AssociationRequest.objects.get()
    assert (asked.store, asked.requested_by, asked.grants) == (
        world.unassociated,
        world.user,
        ["Store.Self.Read"],
    )
    page = browser.get(address).content.decode()
    assert "Postcards for Acme" in page
    assert "has not answered yet" in page

    browser.post(f"{address}/{asked.pk}/withdraw")
    asked.refresh_from_db()
    assert asked.state == "Withdrawn"
    again = browser.post(f"{address}/{asked.pk}/withdraw", follow=True)
    assert "was decided before" in again.content.decode()


def test_the_answer_appears_with_its_note(world, browser, address):
    browser.post(address, {"store": "unassociated"})
    deny_association(
        caller=Caller.on_pages(world.operator),
        request_id=AssociationRequest.objects.get().pk,
        note="Not yet, sorry",
    )

    page = browser.get(address).content.decode()
    assert "Denied" in page
    assert "Not yet, sorry" in page


def test_an_unknown_store_and_a_wrong_grant_are_refused_beside_the_field(world, browser, address):
    response = browser.post(address, {"store": "nowhere", "grants": ["Application.All.Write"]})

    assert set(response.context["form"].errors) == {"store", "grants"}
    assert not AssociationRequest.objects.exists()


def test_requests_of_other_applications_cannot_be_withdrawn(world, browser, signed_in, address):
    signed_in(world.outsider).post(
        f"/applications/{world.other_application.pk}/stores", {"store": "unassociated"}
    )
    asked = AssociationRequest.objects.get()

    browser.post(f"{address}/{asked.pk}/withdraw")

    asked.refresh_from_db()
    assert asked.state == "Pending"
