import re
import smtplib
from datetime import timedelta
from threading import Barrier, Thread

import pytest
from django.core import mail
from django.db import connection

from accounts.callers import Caller
from accounts.mail import MailUnavailable
from accounts.models import Role, User
from applications.registration.models import OwnerInvitation
from applications.registration.selectors.owners import application_people, get_invitation, owner_ids
from applications.registration.services.owners import (
    MAX_PENDING,
    accept_invitation,
    decline_invitation,
    invite_owner,
    remove_person,
    withdraw_invitation,
)
from fulfillment.core.errors import Conflict, Forbidden, Invalid, NotFound
from tests.factories.accounts import UserFactory

NOON = "2026-05-04T12:00:00Z"


@pytest.fixture
def owner(world) -> Caller:
    return Caller.on_pages(world.user)


@pytest.fixture
def guest(world) -> Caller:
    return Caller.on_pages(world.outsider)


def invite(world, caller: Caller, email: str = "guest@print.example") -> str:
    invite_owner(caller=caller, application=world.application, email=email)
    return re.search(r"/invitations/(\S+)", mail.outbox[-1].body)[1]


def become_owner(world, user: User) -> None:
    accept_invitation(user=user, token=invite(world, Caller.on_pages(world.user), user.email))


def api_status(world, user: User, method: str = "GET", body=None) -> int:
    return world.as_user(user).call(method, f"/application/{world.application.pk}", body).status_code


def test_who_accepts_is_an_owner_like_the_others(world, owner):
    assert api_status(world, world.outsider) == 403

    become_owner(world, world.outsider)

    assert owner_ids(world.application) == [world.user.pk, world.outsider.pk]
    assert api_status(world, world.outsider) == 200
    assert api_status(world, world.outsider, "PATCH", {"Description": "Ours"}) == 200
    listed = world.as_user(world.outsider).call("GET", "/application").json()
    assert {"Mail Studio", "Other"} == {record["Name"] for record in listed}
    assert not any("•" in key["Value"] for record in listed for key in record["Keys"])


def test_invitation_link_works_once_for_any_account(world, owner):
    token = invite(world, owner)
    accept_invitation(user=world.outsider, token=token)

    for response in (accept_invitation, decline_invitation):
        with pytest.raises(NotFound):
            response(user=world.operator, token=token)
    assert OwnerInvitation.objects.get().decided_by == world.outsider


def test_mail_goes_to_the_address_whether_or_not_it_has_an_account(world, owner):
    invite(world, owner, "nobody@far.example")
    invite(world, owner, world.outsider.email)

    unknown, known = (letter.body.replace(letter.to[0], "") for letter in mail.outbox)
    assert re.sub("sfi_.*", "", unknown) == re.sub("sfi_.*", "", known)


def test_link_is_valid_for_a_week(world, owner, time_machine):
    time_machine.move_to(NOON, tick=False)
    token = invite(world, owner)

    time_machine.shift(timedelta(days=7, seconds=-1))
    assert get_invitation(token)
    time_machine.shift(1)
    with pytest.raises(NotFound):
        accept_invitation(user=world.outsider, token=token)


def test_inviting_again_sends_a_new_link_and_ends_the_old(world, owner, time_machine):
    time_machine.move_to(NOON, tick=False)
    first = invite(world, owner)

    with pytest.raises(Conflict):
        invite(world, owner, "GUEST@print.example")
    time_machine.shift(60)
    second = invite(world, owner, "GUEST@print.example")

    assert OwnerInvitation.objects.count() == 1
    with pytest.raises(NotFound):
        get_invitation(first)
    assert get_invitation(second)


def test_withdrawn_or_declined_invitation_grants_no_access(world, owner):
    withdrawn, declined = invite(world, owner, "a@far.example"), invite(world, owner, "b@far.example")

    withdraw_invitation(
        caller=owner, application=world.application, invitation_id=get_invitation(withdrawn).pk
    )
    decline_invitation(user=None, token=declined)

    for token in (withdrawn, declined):
        with pytest.raises(NotFound):
            accept_invitation(user=world.outsider, token=token)
    assert owner_ids(world.application) == [world.user.pk]


def test_one_account_cannot_send_mail_without_end(world, owner, settings):
    settings.INVITATIONS_PER_USER = MAX_PENDING
    for number in range(MAX_PENDING):
        invite(world, owner, f"{number}@far.example")
    with pytest.raises(Conflict, match="withdraw some"):
        invite(world, owner, "more@far.example")
    OwnerInvitation.objects.update(state="Withdrawn", decided=NOON)

    with pytest.raises(Conflict, match=r"No invitation was sent to more@far\.example: you can send 20 a day"):
        invite(world, owner, "more@far.example")
    colleague = UserFactory(tenant=world.user.tenant)
    Role.objects.create(user=colleague, application=world.application, grant="Application.All.Write")
    assert invite(world, Caller.on_pages(colleague), "more@far.example")


def test_one_address_is_not_flooded_by_sending_an_invitation_again(world, owner, time_machine, settings):
    """The link may be sent again each minute: each of these mails counts, not the invitation."""
    settings.INVITATIONS_PER_EMAIL = 3
    time_machine.move_to(NOON, tick=False)
    for _ in range(3):
        invite(world, owner, "victim@far.example")
        time_machine.shift(61)
    with pytest.raises(Conflict, match="an address can receive 3 a day"):
        invite(world, owner, "VICTIM@far.example")

    assert len(mail.outbox) == 3
    assert OwnerInvitation.objects.count() == 1
    assert invite(world, owner, "other@far.example")


@pytest.mark.parametrize(
    "address", ["", "nonsense", "a@b.example\nBcc: c@d.example", "a" * 64 + "@" + "b" * 250]
)
def test_addresses_that_cannot_be_are_refused(world, owner, address):
    with pytest.raises(Invalid) as refused:
        invite_owner(caller=owner, application=world.application, email=address)

    assert refused.value.faults[0].pointer == "/Email"
    assert mail.outbox == []


def test_name_with_line_breaks_makes_no_header(world, owner):
    world.application.name = "Studio\r\nBcc: everybody@far.example"
    world.application.save()

    invite(world, owner)

    assert "\n" not in mail.outbox[0].subject
    assert mail.outbox[0].recipients() == ["guest@print.example"]


def test_invitation_without_a_mail_server_is_refused(world, owner, monkeypatch):
    def fail(*args, **kwargs):
        raise smtplib.SMTPServerDisconnected("gone")

    monkeypatch.setattr("accounts.mail.send_mail", fail)

    with pytest.raises(MailUnavailable):
        invite(world, owner)
    assert not OwnerInvitation.objects.exists()


def test_removed_see_nothing_and_their_invitations_end(world, owner, guest):
    become_owner(world, world.outsider)
    token = invite(world, guest, "friend@far.example")

    remove_person(caller=owner, application=world.application, user_id=world.outsider.pk)

    assert api_status(world, world.outsider) == 403
    with pytest.raises(NotFound):
        get_invitation(token)
    with pytest.raises(Forbidden):
        invite(world, guest, "other@far.example")


def test_invitations_end_with_the_role_of_their_sender(world, owner, guest):
    """An operator takes it away in the console, which knows of no invitations."""
    become_owner(world, world.outsider)
    token = invite(world, guest, "friend@far.example")

    Role.objects.filter(user=world.outsider, application=world.application).delete()

    with pytest.raises(NotFound):
        accept_invitation(user=UserFactory(), token=token)


def test_registered_owner_hands_the_application_over(world, owner, guest):
    become_owner(world, UserFactory())
    become_owner(world, world.outsider)

    remove_person(caller=guest, application=world.application, user_id=world.user.pk)

    world.application.refresh_from_db()
    assert world.application.user == world.outsider, "of the same tenant, though not the longest-serving"
    assert api_status(world, world.user) == 403


@pytest.mark.parametrize("by", ["user", "operator"])
def test_last_owner_stays(world, by):
    Role.objects.create(user=world.outsider, application=world.application, grant="Application.Self.Read")

    with pytest.raises(Conflict) as refused:
        remove_person(
            caller=Caller.on_pages(getattr(world, by)),
            application=world.application,
            user_id=world.user.pk,
        )

    assert refused.value.code == "last_owner"
    assert owner_ids(world.application) == [world.user.pk]


def test_inactive_owner_does_not_count_as_staying(world, owner):
    become_owner(world, world.outsider)
    User.objects.filter(pk=world.outsider.pk).update(is_active=False)

    with pytest.raises(Conflict):
        remove_person(caller=owner, application=world.application, user_id=world.user.pk)
    remove_person(caller=owner, application=world.application, user_id=world.outsider.pk)


def test_readers_leave_and_remove_nobody_else(world, guest):
    Role.objects.create(user=world.outsider, application=world.application, grant="Application.Self.Read")

    with pytest.raises(Forbidden):
        remove_person(caller=guest, application=world.application, user_id=world.user.pk)
    remove_person(caller=guest, application=world.application, user_id=world.outsider.pk)

    assert [person.pk for person in application_people(world.application)] == [world.user.pk]


def test_roles_in_stores_survive(world, owner):
    become_owner(world, world.outsider)
    Role.objects.create(user=world.outsider, store=world.associated, grant="Store.Self.Read")

    remove_person(caller=owner, application=world.application, user_id=world.outsider.pk)

    assert Role.objects.filter(user=world.outsider, store=world.associated).exists()


@pytest.mark.django_db(transaction=True)
def test_two_owners_who_remove_each_other_leave_one(world, owner, guest):
    become_owner(world, world.outsider)
    outcomes, start = [], Barrier(2)

    def remove(caller: Caller, user: User) -> None:
        start.wait()
        try:
            remove_person(caller=caller, application=world.application, user_id=user.pk)
            outcomes.append("removed")
        except (Conflict, Forbidden):
            outcomes.append("refused")
        connection.close()

    threads = [Thread(target=remove, args=pair) for pair in ((owner, world.outsider), (guest, world.user))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(outcomes) == ["refused", "removed"]
    assert len(owner_ids(world.application)) == 1
