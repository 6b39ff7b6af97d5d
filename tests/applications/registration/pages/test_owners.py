import re

import pytest
from django.core import mail
from django.test import Client

from accounts.models import Role
from applications.registration.models import OwnerInvitation
from applications.registration.selectors.owners import owner_ids
from tests.factories.accounts import UserFactory
from tests.support.scenario import sign_in


@pytest.fixture
def base(world) -> str:
    return f"/applications/{world.application.pk}"


def link(browser, base: str, email: str = "guest@far.example") -> str:
    browser.post(f"{base}/owners", {"email": email})
    return re.search(r"http://127.0.0.1:8000(/invitations/\S+)", mail.outbox[-1].body)[1]


def test_owner_is_invited_accepts_and_is_removed(world, base, browser, signed_in):
    address = link(browser, base)
    guest = signed_in(world.outsider)
    assert "guest@far.example" in browser.get(f"{base}/owners").content.decode()
    assert "User Example invites you to Mail Studio" in guest.get(address).content.decode()

    assert guest.post(f"{address}/accept")["Location"] == base
    assert "Outsider Example" in browser.get(f"{base}/owners").content.decode()

    remove = f"{base}/owners/{world.outsider.pk}/remove"
    assert "regenerate those that matter" in browser.get(remove).content.decode()
    assert len(owner_ids(world.application)) == 2
    browser.post(remove)
    assert owner_ids(world.application) == [world.user.pk]
    assert guest.get(base).status_code == 403


def test_invitation_is_shown_signed_out_and_accepted_after_a_sign_in(world, base, browser, client):
    address = link(browser, base)

    page = client.get(address).content.decode()
    assert f'href="/accounts/login/?next={address}"' in page
    assert client.post(f"{address}/accept")["Location"] == f"/accounts/login/?next={address}"
    assert "no-store" in client.get(address)["Cache-Control"]

    assert "Invitation declined" in client.post(f"{address}/decline").content.decode()
    gone = client.get(address)
    assert (gone.status_code, "no longer works" in gone.content.decode()) == (404, True)


def test_looking_at_the_link_answers_nothing(world, base, browser, client):
    address = link(browser, base)

    client.get(address)
    client.get(f"{address}/decline")

    assert OwnerInvitation.objects.get().state == "Pending"


def test_invitation_is_sent_again_and_withdrawn(world, base, browser, time_machine):
    time_machine.move_to("2026-05-04T12:00:00Z", tick=False)
    sign_in(browser, world.user)
    first = link(browser, base)
    invitation = f"{base}/invitations/{OwnerInvitation.objects.get().pk}"

    browser.post(f"{invitation}/send")
    assert "on its way" in browser.get(f"{base}/owners").content.decode()
    time_machine.shift(60)
    browser.post(f"{invitation}/send")
    assert len(mail.outbox) == 2
    assert Client().get(first).status_code == 404

    browser.post(f"{invitation}/withdraw")
    assert OwnerInvitation.objects.get().state == "Withdrawn"
    browser.post(f"{invitation}/withdraw")
    assert "This invitation is closed" in browser.get(f"{base}/owners").content.decode()


def test_refused_address_is_kept_in_its_field(world, base, browser):
    for sent in ("nonsense", "guest@far.example", "guest@far.example"):
        response = browser.post(f"{base}/owners", {"email": sent})

    assert "on its way" in str(response.context["form"].errors)
    assert 'value="guest@far.example"' in response.content.decode()
    assert 'value="nonsense"' in browser.post(f"{base}/owners", {"email": "nonsense"}).content.decode()


def test_last_owner_sees_why_leaving_is_not_possible(world, base, browser):
    browser.post(f"{base}/owners/{world.user.pk}/remove")

    assert "last owner cannot leave" in browser.get(f"{base}/owners").content.decode()


def test_owner_leaves(world, base, browser, signed_in):
    guest = signed_in(world.outsider)
    guest.post(f"{link(browser, base)}/accept")

    assert (
        "Leave this application?" in guest.get(f"{base}/owners/{world.outsider.pk}/remove").content.decode()
    )
    assert guest.post(f"{base}/owners/{world.outsider.pk}/remove")["Location"] == "/applications"
    assert "You left Mail Studio." in guest.get("/applications").content.decode()


def test_readers_see_the_owners_and_change_nothing(world, base, signed_in):
    Role.objects.create(user=world.outsider, application=world.application, grant="Application.Self.Read")
    reader = signed_in(world.outsider)

    page = reader.get(f"{base}/owners").content.decode()

    assert ("User Example" in page, "Invite an owner" in page) == (True, False)
    assert reader.post(f"{base}/owners", {"email": "a@far.example"}).status_code == 403
    assert reader.post(f"{base}/owners/{world.user.pk}/remove").status_code == 403
    assert reader.post(f"{base}/owners/{world.operator.pk}/remove").status_code == 404


def test_many_people_are_paged_with_a_fixed_number_of_queries(
    world, base, browser, django_assert_max_num_queries
):
    Role.objects.create(
        user=UserFactory(last_name="Smith"), application=world.application, grant="Application.Self.Read"
    )
    for _ in range(54):
        Role.objects.create(user=UserFactory(), application=world.application, grant="Application.Self.Read")

    with django_assert_max_num_queries(12):
        page = browser.get(f"{base}/owners").content.decode()

    assert "Page 1 of 2" in page
    assert page.count("Can view") == 49
    content = browser.get(f"{base}/owners?q=USER%20nobody").content.decode()
    assert "Nothing matches" in content
    content = browser.get(f"{base}/owners?q=SMITH").content.decode()
    assert content.count("Can view") == 1
