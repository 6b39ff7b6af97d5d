"""The column of prepared names: who fills it, and what it keeps apart."""

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction

from accounts.models import User
from accounts.names import prepared_name

UNIQUE = "user_name_unique"


def write_directly(user, **columns):
    """Past the services, as an older release or a bulk load does."""
    User.objects.filter(pk=user.pk).update(**columns)


def test_every_save_writes_the_prepared_name(world):
    world.user.username = "\uff2a\uff41\uff4e\uff45"
    world.user.save()
    (made,) = User.objects.bulk_create([User(tenant=world.tenant, username="Nora", email="n@x.example")])

    assert User.objects.get(pk=world.user.pk).prepared_name == "jane"
    assert User.objects.get(pk=made.pk).prepared_name == "nora"


@pytest.mark.parametrize(
    ("username", "prepared"),
    [
        ("Nora", "nora"),
        ("\uff2e\uff4f\uff52\uff41", "nora"),
        ("USER", "user"),
        ("\u00c9va", "\u00e9va"),
        ("E\u0301va", "\u00e9va"),
    ],
)
def test_writer_of_the_username_alone_writes_the_prepared_name(world, username, prepared):
    """A stale column would reserve the old name and refuse sign-ins with the new one."""
    write_directly(world.user, username=username)

    assert User.objects.get(pk=world.user.pk).prepared_name == prepared == prepared_name(username)


def test_save_of_the_username_alone_writes_the_prepared_name(world):
    world.user.username = "Nora"
    world.user.save(update_fields=["username"])

    assert User.objects.get(pk=world.user.pk).prepared_name == "nora"


def test_prepared_name_stays_where_the_database_folds_it_differently(world):
    for username in ("\u039f\u0394\u039f\u03a3", "\u039f\u03b4\u03bf\u03c2", "\u039f\u0394\u039f\u03a3"):
        world.user.username = username
        world.user.save()

        assert User.objects.get_by_natural_key(username) == world.user


def test_release_without_the_column_makes_users_who_can_sign_in(world):
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO accounts_user (id, tenant_id, username, first_name, last_name, email, phone, password,"
            " is_operator, is_active, time_zone, created, updated) VALUES (gen_random_uuid(), %s, 'Nora', '', '',"
            " 'n@x.example', '', '', false, true, 'UTC', now(), now())",
            [world.tenant.pk],
        )

    assert User.objects.get_by_natural_key("nora").username == "Nora"


def test_database_keeps_names_apart_that_no_service_saw(world):
    with pytest.raises(IntegrityError, match=UNIQUE), transaction.atomic():
        User.objects.create(tenant=world.tenant, username="\uff35ser", email="twin@far.example")


def test_user_with_a_name_of_before_can_change_everything_else(world, client):
    write_directly(world.user, username="old@far.example", prepared_name="old@far.example")
    client.force_login(world.user)

    values = {"first_name": "Una", "last_name": "L", "phone": "", "time_zone": "UTC"}
    assert client.post("/profile", values).status_code == 302

    assert User.objects.get(pk=world.user.pk).first_name == "Una"


def test_commands_look_users_up_as_a_sign_in_does(world, capsys):
    call_command("turn_off_two_factor", "\uff35\uff33\uff25\uff32@PRINT.example")

    assert "already" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["operator@print.example", "x" * 65])
def test_no_command_makes_a_name_that_the_service_refuses(world, name, monkeypatch):
    monkeypatch.setenv("OPERATOR_PASSWORD", "a long pass phrase")
    with pytest.raises(CommandError, match="user name"):
        call_command("create_operator", name, "--email", "x@far.example", "--tenant", "print.example")
    with pytest.raises(ValidationError):
        User.objects.create_superuser(name, "a long pass phrase", tenant=world.tenant, email="x@far.example")
