from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone
from oauth2_provider.models import AccessToken

from accounts.models import Notification, Role
from accounts.selectors.users import subscription_keys
from applications.oauth.services import issue_access_token
from stores.catalog.models import Store
from tests.factories.applications import ApplicationFactory, issue_token
from tests.support.scenario import confirm_password


def text(client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, address
    return response.content.decode()


@pytest.mark.parametrize(
    "address", ["/profile", "/profile/keys", "/profile/roles", "/profile/authorizations", "/applications"]
)
def test_pages_of_people_ask_for_a_sign_in_and_are_not_kept(world, client, browser, address):
    assert client.get(address)["Location"] == f"/accounts/login/?next={address}"
    assert "no-store" in browser.get(address)["Cache-Control"]


def test_notification_is_read_once_it_is_opened(world, browser):
    notification = Notification.objects.create(
        user=world.user, kind="KeyEnding", key="a", path="/profile", in_bell=True, created=timezone.now()
    )

    for ask, is_read in ((browser.head, False), (browser.get, True)):
        assert ask(f"/notifications/{notification.pk}")["Location"] == "/profile"
        notification.refresh_from_db()
        assert (notification.read is not None) == is_read


def test_start_page_of_people_is_not_kept(world, client, browser):
    assert "Cache-Control" not in client.get("/")
    assert "no-store" in browser.get("/")["Cache-Control"]


def test_profile_is_saved_by_the_service(world, browser):
    values = {"first_name": "Una", "last_name": "Berg", "phone": "+1 555", "time_zone": "America/Denver"}

    assert browser.post("/profile", values)["Location"] == "/profile"

    world.user.refresh_from_db()
    assert {name: getattr(world.user, name) for name in values} == values
    assert "Profile saved." in text(browser, "/profile")


@pytest.mark.parametrize("field", ["first_name", "last_name", "phone"])
def test_profile_hides_no_character(world, browser, field):
    values = {"first_name": "Uma", "last_name": "Lind", "phone": "", "time_zone": "UTC", field: "\u202eamU"}

    assert set(browser.post("/profile", values).context["form"].errors) == {field}


def test_unknown_time_zone_is_refused(world, browser):
    response = browser.post("/profile", {"time_zone": "Mars/Olympus"})

    assert "time_zone" in response.context["form"].errors


def test_keys_are_masked_until_they_are_requested_and_the_password_is_typed(world, stolen):
    keys = subscription_keys(world.user.subscription)
    for path in ("/profile/keys", "/profile/keys?reveal"):
        assert not any(value in text(stolen, path) for value in keys.values())

    confirm_password(stolen)

    assert all(value in text(stolen, "/profile/keys?reveal") for value in keys.values())
    assert not any(value in text(stolen, "/profile/keys") for value in keys.values())


def test_one_key_is_regenerated_after_asking(world, browser):
    before = subscription_keys(world.user.subscription)

    assert "stops working at once" in text(browser, "/profile/keys/secondary/regenerate")
    assert subscription_keys(world.user.subscription) == before
    browser.post("/profile/keys/secondary/regenerate")

    after = subscription_keys(world.user.subscription)
    assert (after["primary"] == before["primary"], after["secondary"] == before["secondary"]) == (True, False)
    assert browser.post("/profile/keys/third/regenerate").status_code == 404


def test_user_without_subscription_gets_one(world, browser):
    world.user.subscription.delete()

    assert "No subscription yet" in text(browser, "/profile/keys")
    browser.post("/profile/keys/subscribe")
    browser.post("/profile/keys/subscribe")

    world.user.refresh_from_db()
    assert world.user.subscription.keys.count() == 2


def test_roles_are_grouped_by_what_they_are_on(world, browser, django_assert_num_queries):
    Role.objects.create(user=world.user, grant="Application.All.Read")

    with django_assert_num_queries(7):
        page = text(browser, "/profile/roles")

    assert page.count("Associated Print") == 1
    assert "Everything" in page
    assert page.count("Store.All.Read") == 1


def test_authorised_application_is_revoked(world, browser):
    for _ in range(2):
        issue_access_token(
            user=world.user,
            application=world.application,
            scopes=["Store.Self.Read"],
            lifetime=timedelta(hours=1),
        )
    page = text(browser, "/profile/authorizations")
    assert page.count("Read stores, their products and your own roles") == 1
    assert "loses its access" in text(browser, f"/profile/authorizations/{world.application.pk}/revoke")
    assert AccessToken.objects.filter(user=world.user).count() == 2

    browser.post(f"/profile/authorizations/{world.application.pk}/revoke")

    assert not AccessToken.objects.filter(user=world.user).exists()
    assert "No authorized applications" in text(browser, "/profile/authorizations")


def test_authorizations_of_others_stay(world, browser):
    issue_access_token(
        user=world.outsider,
        application=world.application,
        scopes=["Store.Self.Read"],
        lifetime=timedelta(hours=1),
    )

    assert "No authorized applications" in text(browser, "/profile/authorizations")
    browser.post(f"/profile/authorizations/{world.application.pk}/revoke")

    assert AccessToken.objects.filter(user=world.outsider).count() == 1


def test_application_without_authorization_is_unknown(world, browser):
    other, unknown = (
        f"/profile/authorizations/{key}/revoke" for key in (world.other_application.pk, uuid4())
    )

    answers = [browser.get(address) for address in (other, unknown)]

    assert [response.status_code for response in answers] == [404, 404]
    for address in (other, unknown):
        assert browser.post(address)["Location"] == "/profile/authorizations", "as after a second click"
    assert "There is no application with this ID" in answers[0].content.decode()
    assert world.other_application.name not in text(browser, "/profile/authorizations")


def test_many_roles_are_searched_and_paged(world, browser):
    stores = Store.objects.bulk_create(
        Store(external_id=f"shop-{number:02}", company_name=f"Shop {number:02}") for number in range(30)
    )
    Role.objects.bulk_create(
        Role(user=world.user, store=store, grant=grant)
        for store in stores
        for grant in ("Store.Self.Read", "Order.Self.Read")
    )

    assert "Page 1 of 2" in text(browser, "/profile/roles")
    second = text(browser, "/profile/roles?page=2")
    page = text(browser, "/profile/roles?q=shop 2")
    assert "Shop 29" in second
    assert (page.count("Shop 2"), "Mail Studio" in page) == (10, False)
    assert "Nothing matches" in text(browser, "/profile/roles?q=zebra")


def test_many_authorisations_are_searched_and_paged(world, browser, django_assert_max_num_queries):
    for number in range(27):
        application = ApplicationFactory(name=f"Given {number:02}", user=world.outsider)
        issue_token(world.user, application, ["Store.Self.Read"])

    with django_assert_max_num_queries(7):
        first = text(browser, "/profile/authorizations")
    assert "Page 1 of 2" in first
    assert "Given 26" in text(browser, "/profile/authorizations?page=2")
    page = text(browser, "/profile/authorizations?q=given 1")
    assert page.count('class="rows-title"') == 10
