import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from accounts.authentication import user_for_sign_in
from accounts.models import Role, Tenant, User
from tests.support.name_examples import GOOD, REFUSED
from tests.support.scenario import build_world

NEW = {
    "Username": "jane.doe",
    "FirstName": "Jane",
    "LastName": "Doe",
    "Email": "jane@print.example",
    "Password": "a long pass phrase",
    "Phone": "+1 801 555 0100",
}


def test_created_user_joins_the_callers_tenant(world):
    response = world.as_user(world.user).call("POST", "/user", NEW)

    assert response.status_code == 200
    record = response.json()
    user = User.objects.get(username="jane.doe")
    assert record == {
        "ID": str(user.pk),
        "Username": "jane.doe",
        "UsernameWithDomain": "jane.doe@print.example",
        "FirstName": "Jane",
        "LastName": "Doe",
        "Email": "jane@print.example",
        "Phone": "+1 801 555 0100",
        "IsOperatorUser": False,
        "_meta": {"Messages": []},
    }
    assert user.tenant == world.tenant
    assert user.check_password(NEW["Password"])
    assert user.subscription.keys.count() == 2


@pytest.mark.parametrize(
    "username", ["jane.doe", "JANE.DOE", "Jane.Doe", "\uff2a\uff41\uff4e\uff45.doe"], ids=ascii
)
def test_taken_username_is_400_in_any_case_and_width(world, username):
    client = world.as_user(world.user)
    client.call("POST", "/user", NEW)

    response = client.call("POST", "/user", {**NEW, "Username": username})

    assert (response.status_code, response.json()["Code"]) == (400, "username_taken")
    assert response.json()["Errors"][0]["Pointer"] == "/Username"
    assert User.objects.filter(prepared_name="jane.doe").count() == 1


def test_full_name_that_reads_like_the_confirmed_address_of_another_is_refused(world):
    """It comes first at a sign-in: who confirmed the address could no longer sign in with it."""
    User.objects.filter(pk=world.outsider.pk).update(
        email="Jane.Doe@print.example", email_confirmed=timezone.now()
    )

    response = world.as_user(world.user).call("POST", "/user", {**NEW, "Username": "Jane.doe"})

    assert (response.status_code, response.json()["Code"]) == (400, "username_taken")
    assert user_for_sign_in("jane.doe@print.example") == world.outsider


def test_unconfirmed_mail_address_reserves_no_user_name(world):
    User.objects.filter(pk=world.outsider.pk).update(email="jane.doe@print.example", email_confirmed=None)

    assert world.as_user(world.user).call("POST", "/user", NEW).status_code == 200


@pytest.mark.parametrize("username", GOOD, ids=ascii)
def test_name_is_kept_and_shown_as_it_was_sent(world, username):
    client = world.as_user(world.user)

    record = client.call("POST", "/user", {**NEW, "Username": username}).json()

    assert (record["Username"], record["UsernameWithDomain"]) == (username, f"{username}@print.example")
    assert client.call("POST", "/user", {**NEW, "Username": username}).json()["Code"] == "username_taken"


@pytest.mark.parametrize("username", REFUSED, ids=ascii)
def test_name_that_resembles_another_is_refused(world, username):
    response = world.as_user(world.user).call("POST", "/user", {**NEW, "Username": username})

    assert response.status_code == 400
    assert [error["Pointer"] for error in response.json()["Errors"]] == ["/Username"]


def test_name_that_another_tenant_has_is_free(world):
    other = Tenant.objects.create(domain="other.example", name="Other")
    User.objects.create(tenant=other, username="jane.doe", email="jane@other.example")

    assert world.as_user(world.user).call("POST", "/user", NEW).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_of_two_people_who_take_one_name_at_once_one_gets_it():
    world = build_world()
    barrier, answers = threading.Barrier(2), []

    def take(name):
        try:
            client = world.as_user(world.user)
            barrier.wait()
            answers.append(client.call("POST", "/user", {**NEW, "Username": name}).json().get("Code"))
        finally:
            connection.close()

    threads = [threading.Thread(target=take, args=(name,)) for name in ("Jane.Doe", "\uff4aane.doe")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(answers, key=str) == [None, "username_taken"]
    assert User.objects.filter(prepared_name="jane.doe").count() == 1


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"Username": "jane doe"}, "/Username"),
        ({"Username": "x" * 151}, "/Username"),
        ({"Username": ""}, "/Username"),
        ({"Email": "nobody"}, "/Email"),
        ({"Password": "short"}, "/Password"),
        ({"Password": "12345678901"}, "/Password"),
        ({"Password": "password123"}, "/Password"),
        ({"Password": "jane.doe"}, "/Password"),
        ({"FirstName": None}, "/FirstName"),
        ({"LastName": ["x"]}, "/LastName"),
        ({"IsStaff": True}, "/IsStaff"),
    ],
)
def test_user_refused_names_the_field(world, change, pointer):
    response = world.as_user(world.user).call("POST", "/user", {**NEW, **change})

    assert response.status_code == 400
    assert pointer in {error["Pointer"] for error in response.json()["Errors"]}


@pytest.mark.parametrize("field", ["Username", "FirstName", "LastName", "Email", "Password"])
def test_user_without_a_required_field_is_refused(world, field):
    body = {name: value for name, value in NEW.items() if name != field}

    response = world.as_user(world.user).call("POST", "/user", body)

    assert response.json()["Errors"] == [
        {"Pointer": f"/{field}", "Code": "required", "Message": f"{field}: This field is required."}
    ]


def test_read_only_fields_cannot_make_an_operator(world):
    record = (
        world.as_user(world.user).call("POST", "/user", {**NEW, "IsOperatorUser": True, "ID": "x"}).json()
    )

    assert record["IsOperatorUser"] is False
    assert not User.objects.get(username="jane.doe").is_operator


def test_password_is_in_no_answer(world):
    client = world.as_user(world.user)

    assert NEW["Password"] not in client.call("POST", "/user", NEW).content.decode()
    assert NEW["Password"] not in client.call("POST", "/user", NEW).content.decode()


def test_self_is_the_current_user(world):
    record = world.as_user(world.user).call("GET", "/user/self").json()

    assert (record["ID"], record["UsernameWithDomain"]) == (str(world.user.pk), "user@print.example")


def test_roles_show_every_relationship_of_the_user(world):
    Role.objects.create(user=world.user, grant="Application.All.Read")

    records = world.as_operator().call("GET", f"/user/{world.user.pk}/roles").json()

    assert {(r["ApplicationID"], r["StoreID"], r["UserID"], r["Grant"]) for r in records} == {
        (None, "associated", str(world.user.pk), "Store.All.Read"),
        (None, "associated", str(world.user.pk), "Order.All.Read"),
        (None, "associated", str(world.user.pk), "Order.All.Write"),
        (str(world.application.pk), None, str(world.user.pk), "Application.Self.Read"),
        (str(world.application.pk), None, str(world.user.pk), "Application.Self.Write"),
        (None, None, str(world.user.pk), "Application.All.Read"),
    }
    assert all(isinstance(r["ID"], int) and r["_meta"] == {"Messages": []} for r in records)


@pytest.mark.parametrize("user_id", ["none", "00000000-0000-0000-0000-000000000000", "1"])
def test_roles_of_an_unknown_user_are_404(world, user_id):
    assert world.as_operator().call("GET", f"/user/{user_id}/roles").status_code == 404


def test_emails_answers_known_active_addresses_in_order(world):
    world.outsider.is_active = False
    world.outsider.save()
    requested = ["nobody@x.example", "OPERATOR@print.example", "user@print.example", "outsider@print.example"]

    for client in (world.as_user(world.user), world.as_application()):
        assert client.call("POST", "/user/emails", requested).json() == requested[1:3]


def test_emails_takes_a_fixed_number_of_queries(world, django_assert_num_queries):
    client = world.as_user(world.user)
    for count in (1, 100):
        with django_assert_num_queries(2):
            client.call("POST", "/user/emails", [f"{n}@print.example" for n in range(count)])


@pytest.mark.parametrize("body", [{}, "x", [1], ["\u0000"], [None], ["x"] * 101])
def test_emails_refuses_other_bodies(world, body):
    assert world.as_user(world.user).call("POST", "/user/emails", body).status_code == 400


def test_emails_of_another_tenant_are_for_operators(world):
    other = Tenant.objects.create(domain="Other.example", name="Other")
    User.objects.create(tenant=other, username="x", email="x@other.example")
    path, requested = "/user/emails?tenant=other.example", ["x@other.example", "user@print.example"]

    assert world.as_operator().call("POST", path, requested).json() == requested[:1]
    assert world.as_user(world.user).call("POST", path, requested).status_code == 403
    assert world.as_user(world.operator).call("POST", path, requested).status_code == 403
    unknown = world.as_user(world.user).call("POST", "/user/emails?tenant=none.example", requested)
    assert unknown.status_code == 403


@pytest.mark.parametrize("count", [1, 3])
def test_role_list_takes_a_fixed_number_of_queries(world, django_assert_num_queries, count):
    for grant in ("Store.Self.Read", "Order.Self.Read", "Order.Self.Write")[:count]:
        Role.objects.create(user=world.outsider, store=world.associated, grant=grant)
    Role.objects.filter(user=world.outsider, store__isnull=True).delete()
    client = world.as_operator()

    with django_assert_num_queries(3):
        assert len(client.call("GET", f"/user/{world.outsider.pk}/roles").json()) == count


def test_person_makes_so_many_accounts_a_day(world, settings):
    settings.ACCOUNTS_PER_USER = 2
    client = world.as_user(world.user)
    made = [client.call("POST", "/user", {**NEW, "Username": f"jane{number}"}) for number in range(3)]

    assert [response.status_code for response in made] == [200, 200, 429]
    assert made[2].json()["Code"] == "too_many_accounts"
    assert 86_000 < int(made[2]["Retry-After"]) <= 86_400
    assert world.as_user(world.outsider).call("POST", "/user", NEW).status_code == 200
    User.objects.filter(username="jane0").update(created=timezone.now() - timedelta(days=1, seconds=1))
    assert client.call("POST", "/user", {**NEW, "Username": "jane3"}).status_code == 200


def test_operators_make_any_number_of_accounts_each_with_a_limit_of_its_own(world, settings):
    settings.ACCOUNTS_PER_USER = 1
    for number in range(3):
        body = {**NEW, "Username": f"jane{number}"}
        assert world.as_operator().call("POST", "/user", body).status_code == 200

    assert set(User.objects.filter(username__startswith="jane").values_list("counted_on", flat=True)) == {
        None
    }


def test_accounts_of_unconfirmed_accounts_count_for_the_person_behind_them(world, settings):
    settings.ACCOUNTS_PER_USER = 2
    world.as_user(world.user).call("POST", "/user", {**NEW, "Username": "first"})
    first = User.objects.get(username="first")
    by_first = world.as_user(first)

    assert by_first.call("POST", "/user", {**NEW, "Username": "second"}).status_code == 200
    assert User.objects.get(username="second").counted_on == world.user
    assert by_first.call("POST", "/user", {**NEW, "Username": "third"}).status_code == 429
    User.objects.filter(pk=first.pk).update(email_confirmed=timezone.now())
    assert by_first.call("POST", "/user", {**NEW, "Username": "third"}).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_many_accounts_at_once_are_made_to_the_limit_exactly(settings):
    settings.ACCOUNTS_PER_USER = 3
    settings.WEB_THREADS = settings.CHANGES_CONCURRENCY = 16
    world = build_world()
    client = world.as_user(world.user)

    def make(number: int) -> int:
        try:
            return client.call("POST", "/user", {**NEW, "Username": f"jane{number}"}).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        statuses = list(pool.map(make, range(6)))

    assert sorted(statuses) == [200] * 3 + [429] * 3


@pytest.mark.django_db
def test_new_account_waits_for_a_slot_before_it_locks_its_maker(world, settings):
    settings.CONCURRENCY_WAIT_SECONDS = settings.CHANGES_CONCURRENCY = 0

    refused = world.as_user(world.user).call("POST", "/user", NEW)

    assert (refused.status_code, refused.json()["Code"]) == (503, "service_busy")
    assert world.as_user(world.user).call("GET", "/user/self").status_code == 200
