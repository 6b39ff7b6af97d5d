import logging
from itertools import islice
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management import CommandError
from django.db import migrations

from accounts.names import prepared_name, validate_username

LOG = logging.getLogger("accounts.migrations")
BATCH = 1000
MOST_NAMED = 50
FILL = """
UPDATE accounts_user SET prepared_name = given.name
FROM unnest(%s::uuid[], %s::text[]) AS given(id, name)
WHERE accounts_user.id = given.id AND prepared_name IS DISTINCT FROM given.name
"""
CLASHES = """
SELECT domain, array_agg(username::text ORDER BY accounts_user.created, accounts_user.id)
FROM accounts_user JOIN accounts_tenant ON accounts_tenant.id = tenant_id
GROUP BY domain, prepared_name HAVING count(*) > 1
ORDER BY domain, prepared_name
"""


def fill(apps: Any, schema_editor: Any) -> None:
    """Refuses to go on while two names of a tenant are the same in their prepared form, and names them."""
    unfit = []
    people = apps.get_model("accounts", "User").objects.values_list("pk", "username", "tenant__domain")
    rows = people.order_by("pk").iterator(chunk_size=BATCH)
    with schema_editor.connection.cursor() as cursor:
        while batch := list(islice(rows, BATCH)):
            names = [prepared_name(name) for _, name, _ in batch]
            cursor.execute(FILL, [[key for key, _, _ in batch], names])
            unfit += [f"{name!r} of {domain}" for _, name, domain in batch if not _is_valid(name)]
        cursor.execute(CLASHES)
        clashes = cursor.fetchall()
    if clashes:
        raise CommandError(_told_clashes(clashes))
    if unfit:
        LOG.warning(
            "%s user names are none that could be given today. They stay, and sign in as name@domain: %s",
            len(unfit),
            _listed(unfit),
        )


def _is_valid(name: str) -> bool:
    try:
        validate_username(name)
    except ValidationError:
        return False
    return True


def _told_clashes(clashes: list[tuple[str, list[str]]]) -> str:
    told = [f"{domain}: {', '.join(map(repr, names))}" for domain, names in clashes]
    return (
        f"Nothing was changed. From this release on user names are compared in a prepared form (case, width and"
        f" accents written apart make no difference), and {len(clashes)} of them belong to several users of one"
        f" organisation. Rename all users but one of each in the console, then migrate again: {_listed(told)}"
    )


def _listed(told: list[str]) -> str:
    more = f"; and {len(told) - MOST_NAMED} more" if len(told) > MOST_NAMED else ""
    return "; ".join(told[:MOST_NAMED]) + more


class Migration(migrations.Migration):
    dependencies = [("accounts", "0009_prepared_names")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
