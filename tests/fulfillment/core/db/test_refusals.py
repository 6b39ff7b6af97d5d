"""What commands say where the database refuses them for what an operator can mend."""

import pytest
from django.db import ProgrammingError, connection, transaction

from fulfillment.core.db.connections import explanation_of


def refusal_of(*statements):
    with pytest.raises(ProgrammingError) as refused, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("; ".join(statements))
    return refused.value


def test_missing_table_or_column_asks_for_prepare(db):
    for statement in ("SELECT 1 FROM not_there", "SELECT not_there FROM accounts_tenant"):
        message = explanation_of(refusal_of(statement))

        assert message.startswith("The database does not have the tables of this release; run prepare.")
        assert "not_there" in message
        assert "\n" not in message


def test_role_without_rights_is_told_of_the_owner(db):
    refused = refusal_of(
        "CREATE ROLE without_rights", "SET LOCAL ROLE without_rights", "DELETE FROM accounts_tenant"
    )

    message = explanation_of(refused)
    assert "permission denied for table accounts_tenant" in message
    assert "role that owns the database" in message


def test_role_of_the_service_that_does_not_exist_is_named(db, settings):
    settings.DATABASE_ROLE = "no_such_role"

    message = explanation_of(refusal_of("GRANT SELECT ON accounts_tenant TO no_such_role"))

    assert message.startswith('DATABASE_ROLE: role "no_such_role" does not exist. Create it first')


def test_error_of_the_code_keeps_its_stack(db):
    assert explanation_of(refusal_of("SELEC 1")) is None
