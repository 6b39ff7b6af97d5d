"""Who signs in by name and password, and who does not."""

import pytest
from django.contrib.auth import hashers
from django.core.exceptions import PermissionDenied
from django.db import connection
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext

from accounts import authentication
from accounts.authentication import TenantBackend, is_own_password
from accounts.models import RateWindow, Tenant, User
from tests.support.scenario import PASSWORD

BACKEND = TenantBackend()


def sign_in(username, password=PASSWORD, request=None):
    return BACKEND.authenticate(request, username=username, password=password)


@pytest.fixture
def twin(world):
    """A user of the same name in another tenant."""
    tenant = Tenant.objects.create(domain="other.example", name="Other")
    user = User(tenant=tenant, username="user", email="user@other.example")
    user.set_password("another pass phrase")
    user.save()
    return user


@pytest.mark.parametrize(
    "name",
    ["user", "USER", "ｕｓｅｒ", "user@print.example", "User@Print.Example", "ＵＳＥＲ@print.example"],
    ids=ascii,
)
def test_name_alone_or_with_its_domain_signs_in_however_it_is_written(world, name):
    assert sign_in(name) == world.user


@pytest.mark.parametrize(
    "name", ["", None, "use", "user@", "user@example", "@print.example", "user\0", "nobody"]
)
def test_wrong_names_do_not_sign_in(world, name):
    assert sign_in(name) is None


@pytest.mark.parametrize("password", ["", None, PASSWORD.upper(), PASSWORD + " ", "x"])
def test_wrong_passwords_do_not_sign_in(world, password):
    assert sign_in("user", password) is None


def test_name_without_domain_belongs_to_the_default_tenant(world, twin, settings):
    """A namesake in another tenant neither keeps the person out nor comes in."""
    assert sign_in("user") == world.user
    assert sign_in("user", "another pass phrase") is None
    assert sign_in("user@print.example") == world.user
    assert sign_in("user@other.example", "another pass phrase") == twin
    assert sign_in("user@other.example") is None

    settings.DEFAULT_TENANT_DOMAIN = "Other.Example"
    assert sign_in("user") is None
    assert sign_in("user", "another pass phrase") == twin


def test_name_alone_of_another_tenant_stays_closed_where_only_that_one_has_it(world, settings):
    settings.DEFAULT_TENANT_DOMAIN = "elsewhere.example"

    assert sign_in("user") is None
    assert sign_in("user@print.example") == world.user


def test_account_with_a_name_that_looks_alike_changes_no_sign_in(world):
    """A dotless i: PostgreSQL's UPPER makes one name of the two."""
    twin = User(tenant=world.tenant, username="outs\u0131der", email="twin@far.example")
    twin.set_password("another pass phrase")
    twin.save()

    for name in ("outsider", "OUTSIDER", "outsider@print.example"):
        assert sign_in(name) == world.outsider
    assert sign_in("outs\u0131der@print.example", "another pass phrase") == twin


def test_name_given_before_with_a_domain_in_it_changes_no_sign_in(world):
    other = Tenant.objects.create(domain="other.example", name="Other")
    for tenant in (world.tenant, other):
        old = User(tenant=tenant, username="user@print.example", email="old@far.example")
        old.set_password("another pass phrase")
        old.save()

    assert sign_in("user@print.example") == world.user
    assert sign_in("user@print.example@other.example", "another pass phrase") == old


def test_inactive_user_signs_in_nowhere_and_loses_the_session(world):
    assert BACKEND.get_user(world.user.pk) == world.user
    User.objects.filter(pk=world.user.pk).update(is_active=False)

    assert sign_in("user") is None
    assert BACKEND.get_user(world.user.pk) is None


def test_user_of_a_session_comes_with_the_tenant_in_one_query(world, django_assert_num_queries):
    with django_assert_num_queries(1):
        assert BACKEND.get_user(world.user.pk).tenant.domain == "print.example"
    with django_assert_num_queries(0):
        assert sign_in("", "x") is None


def test_unknown_name_costs_the_work_of_a_wrong_password(world, monkeypatch):
    checked = []
    real = hashers.check_password

    def count(password, encoded, *args, **kwargs):
        checked.append((password, encoded))
        return real(password, encoded, *args, **kwargs)

    monkeypatch.setattr(authentication, "check_password", count)
    assert sign_in("nobody", "a guess") is None

    assert [password for password, _ in checked] == ["a guess"]
    assert hashers.identify_hasher(checked[0][1]).algorithm == hashers.get_hasher("default").algorithm


def test_too_many_tries_are_refused_without_a_look_at_the_password(world, settings):
    settings.DEFAULT_TENANT_DOMAIN = "Print.Example"
    settings.SIGN_IN_TRIES_PER_ACCOUNT = 2
    request = RequestFactory().post("/accounts/login/", REMOTE_ADDR="203.0.113.9")
    for _ in range(2):
        assert sign_in("user", "wrong", request) is None

    with pytest.raises(PermissionDenied):
        sign_in("user@print.example", PASSWORD, request)

    assert request.sign_in_refusal
    assert sign_in("outsider", PASSWORD, request) == world.outsider


@pytest.mark.parametrize("name", ["user", "nobody"])
def test_spellings_of_a_name_share_a_limit_that_reveals_no_account(world, settings, name):
    settings.SIGN_IN_TRIES_PER_ACCOUNT = 2
    for written in (name, name.upper()):
        assert sign_in(written, "wrong") is None

    for written in (name, f"{name}@Print.Example", f"\uff55{name[1:]}" if name == "user" else name):
        with pytest.raises(PermissionDenied):
            sign_in(written, PASSWORD)


def test_passwords_of_a_session_and_of_sign_ins_share_the_limit_of_the_account(world, settings):
    settings.SIGN_IN_TRIES_PER_ACCOUNT = 2
    request = RequestFactory().post("/profile/keys", REMOTE_ADDR="203.0.113.9")
    request.user = world.user
    for _ in range(2):
        assert not is_own_password(request, "wrong")
        assert not hasattr(request, "sign_in_refusal")

    assert not is_own_password(request, PASSWORD)
    assert request.sign_in_refusal.resets_in > 0
    assert sign_in("user") is None
    request.user = world.outsider
    assert is_own_password(request, PASSWORD)


def test_passwords_of_a_session_count_against_its_address(world, settings):
    settings.SIGN_IN_TRIES_PER_ADDRESS = 2
    here, elsewhere = (
        RequestFactory().post("/profile/keys", REMOTE_ADDR=address)
        for address in ("203.0.113.9", "203.0.113.10")
    )
    here.user = elsewhere.user = world.user
    for _ in range(3):
        assert is_own_password(here, PASSWORD)
    for _ in range(2):
        assert not is_own_password(here, "wrong")

    assert not is_own_password(here, PASSWORD)
    assert here.sign_in_refusal.resets_in > 0
    assert is_own_password(elsewhere, PASSWORD)


def test_right_password_clears_the_account(world, settings):
    settings.SIGN_IN_TRIES_PER_ACCOUNT = 3
    for _ in range(4):
        assert sign_in("user", "wrong") is None
        assert sign_in("user") == world.user
    assert not RateWindow.objects.filter(used__gt=3).exists()


def test_unknown_name_is_limited_in_any_case(world, settings):
    settings.SIGN_IN_TRIES_PER_ACCOUNT = 2
    assert sign_in("Nobody", "x") is None
    assert sign_in("NOBODY", "x") is None

    with pytest.raises(PermissionDenied):
        sign_in("nobody", "x")


def test_addresses_are_limited_over_all_names(world, settings):
    settings.SIGN_IN_TRIES_PER_ADDRESS = 2
    here, there = (RequestFactory().post("/", REMOTE_ADDR=f"203.0.113.{number}") for number in (1, 2))
    for name in ("a", "b"):
        assert sign_in(name, "x", here) is None

    with pytest.raises(PermissionDenied):
        sign_in("user", PASSWORD, here)
    assert sign_in("user", PASSWORD, there) == world.user


@pytest.fixture
def own_address(world):
    User.objects.filter(pk=world.user.pk).update(email="Uma@Mail.example")


@pytest.mark.parametrize("name", ["Uma@Mail.example", "uma@mail.EXAMPLE"])
def test_confirmed_address_of_one_account_signs_in(world, own_address, name):
    assert sign_in(name) == world.user


def test_address_that_is_not_confirmed_signs_in_nowhere(world, own_address):
    User.objects.filter(pk=world.user.pk).update(email_confirmed=None)

    assert sign_in("uma@mail.example") is None


def test_address_that_several_accounts_confirmed_signs_in_nowhere(world, own_address):
    User.objects.filter(pk=world.outsider.pk).update(email="uma@mail.example")

    assert sign_in("uma@mail.example") is None


def test_full_name_comes_before_an_address_that_reads_the_same(world):
    User.objects.filter(pk=world.outsider.pk).update(email="user@print.example")
    User.objects.filter(pk=world.user.pk).update(email="elsewhere@mail.example")
    world.outsider.set_password("another pass phrase")
    world.outsider.save(update_fields=["password"])

    assert sign_in("user@print.example") == world.user
    assert sign_in("user@print.example", "another pass phrase") is None


def test_address_with_its_name_taken_is_looked_up_in_as_many_queries(world):
    """What a look-up costs says whether it found something."""
    with CaptureQueriesContext(connection) as known:
        sign_in("user@print.example", "wrong")
    with CaptureQueriesContext(connection) as unknown:
        sign_in("no.such@print.example", "wrong")

    assert len(known) == len(unknown)
