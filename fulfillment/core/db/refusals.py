"""Sentences about what PostgreSQL refuses a command where settings or deployment are wrong, not the code."""

from django.conf import settings
from django.db import ProgrammingError

from fulfillment.core.errors import in_one_line

NOT_PREPARED = {"42P01", "42703"}
NOT_ALLOWED = "42501"
NO_SUCH_ROLE = "42704"


def explanation_of(error: ProgrammingError) -> str | None:
    """None for an error of the code, whose stack is needed."""
    state = getattr(error.__cause__, "sqlstate", None)
    if state in NOT_PREPARED:
        return f"The database does not have the tables of this release; run prepare. ({_first_line(error)})"
    if state == NOT_ALLOWED:
        return (
            f"The role of DATABASE_URL may not do this ({in_one_line(error)}). `prepare` and `restore` want the role "
            'that owns the database: "Two roles" in docs/operating/deploy.md.'
        )
    if state == NO_SUCH_ROLE and settings.DATABASE_ROLE:
        return (
            f'DATABASE_ROLE: {_first_line(error)}. Create it first: "Two roles" in docs/operating/deploy.md.'
        )
    return None


def _first_line(error: ProgrammingError) -> str:
    return str(error).splitlines()[0]
