"""Production does not start on a database that opens with the demo's public passwords."""

import os
import subprocess
import sys

import pytest
from argon2 import PasswordHasher
from django.contrib.auth.hashers import make_password
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection

from accounts import demo
from accounts.demo import OPERATOR, demo_sign_ins_left, ensure_people, refuse_demo_sign_ins
from accounts.models import User
from fulfillment.operations.deployment_checks import check_deployment
from tests.support.database.address import address_of
from tests.support.servers.live_server import ROOT, served_environment


@pytest.fixture
def production(settings):
    settings.DEVELOPMENT = False
    settings.STATIC_ROOT = settings.MEDIA_ROOT
    return settings


@pytest.fixture
def demo_people(db):
    return ensure_people()


def test_first_load_of_the_demo_verifies_no_password_it_has_just_hashed(db, monkeypatch):
    checked = []
    monkeypatch.setattr(User, "check_password", lambda user, password: not checked.append(user.username))

    ensure_people()
    assert checked == []

    ensure_people()
    assert len(checked) == 3


def test_start_is_refused_with_a_sentence_on_how_to_continue(demo_people, production):
    with pytest.raises(ImproperlyConfigured) as refused:
        refuse_demo_sign_ins()

    for said in ("operator@print.example", "changepassword operator", "erase_user operator@print.example"):
        assert said in str(refused.value)
    assert str(refused.value) in [message.msg for message in check_deployment(None)]
    with pytest.raises(CommandError, match="sign-ins of the demo"):
        call_command("prepare", verbosity=0)


def test_new_passwords_end_the_refusal(demo_people, production):
    User.objects.filter(username="operator").update(password=make_password("a much longer one"))
    assert demo_sign_ins_left() == ["user@print.example", "outsider@print.example"]
    User.objects.exclude(username="operator").update(is_active=False)

    refuse_demo_sign_ins()

    assert demo_sign_ins_left() == []


def test_operator_moved_to_another_organisation_is_found(demo_people, production):
    user = demo_people["operator"]
    user.tenant.domain = "print.example"
    user.tenant.save()
    User.objects.filter(pk=user.pk).update(email="olivia@print.example")

    assert "operator@print.example" in demo_sign_ins_left()


def test_own_password_is_not_rewritten_by_looking(demo_people, production):
    before = User.objects.get(username="operator").password
    demo_sign_ins_left()

    assert User.objects.get(username="operator").password == before


def test_database_that_is_away_stops_no_start(production, monkeypatch, db):
    def away():
        raise OperationalError("away")

    monkeypatch.setattr(demo, "demo_sign_ins_left", away)

    refuse_demo_sign_ins()


def test_development_starts_with_the_demo(demo_people):
    refuse_demo_sign_ins()


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_web_process_ends_with_the_sentence():
    ensure_people()
    password = "argon2" + PasswordHasher().hash(OPERATOR.password)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE accounts_user SET password = %s WHERE username = 'operator'", [password])
    production = {"FULFILLMENT_MODE": "production", "PUBLIC_URL": "https://print.example"}
    environment = served_environment("", address_of()) | production

    result = subprocess.run(
        [sys.executable, "-c", "import fulfillment.wsgi"],
        cwd=ROOT,
        env=environment | {"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )

    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    assert result.stderr.strip().splitlines()[-1].startswith("This database holds sign-ins of the demo")
