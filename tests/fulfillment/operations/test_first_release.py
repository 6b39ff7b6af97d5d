"""What is said of a database that was made before 0.1.0."""

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from fulfillment.core.db.first_migrations import BEFORE_FIRST_RELEASE, is_older_than_first_release
from fulfillment.management.commands import up
from tests.support.database.old_migrations import old_migrations

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("arguments", [["migrate"], ["migrate", "--check"], ["prepare"]])
def test_database_made_before_the_first_release_is_refused_in_one_sentence(arguments):
    with old_migrations(), pytest.raises(CommandError) as refused:
        call_command(*arguments, verbosity=0)

    assert str(refused.value) == BEFORE_FIRST_RELEASE


def test_make_run_reports_it_as_well():
    with old_migrations(), pytest.raises(CommandError, match=r"remove the folder var/"):
        up.migrate()


def test_database_of_a_later_release_is_not_mistaken_for_an_old_one():
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO django_migrations (app, name, applied) VALUES ('stores', '9999_later', now())"
        )

    assert not is_older_than_first_release(connection)
