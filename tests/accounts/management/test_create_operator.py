import io

import pytest
from django.core.management import CommandError, call_command

from accounts.models import Tenant, User


@pytest.fixture
def password(monkeypatch):
    monkeypatch.setenv("OPERATOR_PASSWORD", "a long pass phrase")


def test_operator_can_sign_in(db, password, client, capsys):
    call_command("create_operator", "ada", email="ada@print.example", tenant="print.example")

    assert User.objects.get(username="ada").is_operator
    assert client.login(username="ada@print.example", password="a long pass phrase")
    assert "ada@print.example is an operator" in capsys.readouterr().out


def test_password_without_a_terminal_is_reported_to_come_from_standard_input(db, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO("a long pass phrase\nmore\n"))

    call_command("create_operator", "ada", email="ada@print.example", tenant="print.example")

    assert "the password is the first line of standard input" in capsys.readouterr().err
    assert User.objects.get(username="ada").check_password("a long pass phrase")


def test_empty_standard_input_is_named_and_creates_no_operator(db, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(""))

    with pytest.raises(CommandError, match="standard input has no password"):
        call_command("create_operator", "ada", email="ada@print.example")

    assert not User.objects.exists()


def test_operator_refused_says_why_and_is_not_created(db, monkeypatch):
    monkeypatch.setenv("OPERATOR_PASSWORD", "short")

    with pytest.raises(CommandError, match="at least 8 characters"):
        call_command("create_operator", "ada", email="ada@print.example", tenant="typo.example")

    assert not User.objects.exists()
    assert not Tenant.objects.filter(domain="typo.example").exists()
