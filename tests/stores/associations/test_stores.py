import pytest

from accounts.callers import Caller
from accounts.models import AssociationRequest, Role
from accounts.services.associations import deny_association
from stores.catalog.models import Store


@pytest.fixture
def address(world) -> str:
    return f"/applications/{world.application.pk}/stores"


def test_page_shows_associations_in_plain_words(world, browser, address):
    page = browser.get(address).content.decode()

    assert "Associated Print" in page
    assert "Submit orders and cancel your own" in page
    assert "Unassociated Print" not in page


def test_store_is_requested_once_and_withdrawn(world, browser, address):
    values = {"store": "unassociated", "grants": ["Store.Self.Read"], "message": "Postcards for Acme"}

    assert browser.post(address, values)["Location"] == address
    browser.post(address, values)

    requested = AssociationRequest.objects.get()
    assert (requested.store, requested.requested_by, requested.grants) == (
        world.unassociated,
        world.user,
        ["Store.Self.Read"],
    )
    page = browser.get(address).content.decode()
    assert "Postcards for Acme" in page
    assert "has a request for Unassociated Print that is still pending" in page

    browser.post(f"{address}/{requested.pk}/withdraw")
    requested.refresh_from_db()
    assert requested.state == "Withdrawn"
    again = browser.post(f"{address}/{requested.pk}/withdraw", follow=True)
    assert "is already decided" in again.content.decode()


def test_answer_appears_with_its_note(world, browser, address):
    browser.post(address, {"store": "unassociated"})
    deny_association(
        caller=Caller.on_pages(world.operator),
        request_id=AssociationRequest.objects.get().pk,
        note="Not yet, sorry",
    )

    page = browser.get(address).content.decode()
    assert "Denied" in page
    assert "Not yet, sorry" in page


def test_unknown_store_and_a_wrong_grant_are_refused_at_the_field(world, browser, address):
    response = browser.post(address, {"store": "nowhere", "grants": ["Application.All.Write"]})

    assert set(response.context["form"].errors) == {"store", "grants"}
    assert not AssociationRequest.objects.exists()


def test_requests_of_other_applications_cannot_be_withdrawn(world, browser, signed_in, address):
    signed_in(world.outsider).post(
        f"/applications/{world.other_application.pk}/stores", {"store": "unassociated"}
    )
    requested = AssociationRequest.objects.get()

    browser.post(f"{address}/{requested.pk}/withdraw")

    requested.refresh_from_db()
    assert requested.state == "Pending"


def test_many_stores_and_requests_are_searched_and_paged(
    world, browser, address, django_assert_max_num_queries
):
    stores = Store.objects.bulk_create(
        Store(external_id=f"shop-{number:02}", company_name=f"Shop {number:02}") for number in range(30)
    )
    Role.objects.bulk_create(
        Role(application=world.application, store=store, grant="Store.Self.Read") for store in stores
    )
    for store in stores[:12]:
        AssociationRequest.objects.create(application=world.application, store=store)

    with django_assert_max_num_queries(12):
        page = browser.get(address).content.decode()
    assert ("Page 1 of 2" in page, 'aria-label="Pages of requests"' in page) == (True, True)
    assert 'href="?requests=2"' in page

    page = browser.get(f"{address}?page=2&requests=2").content.decode()
    assert 'href="?page=2&amp;requests=1"' in page
    found = browser.get(f"{address}?q=SHOP-2").content.decode()
    assert found.count("Read stores, their products and your own roles</li>") == 10
    assert "Nothing matches" in browser.get(f"{address}?q=zebra").content.decode()
