"""Numbers that people and print providers know."""

from fulfillment.core.db.prepared import fetch_row

# More than are given between a backup and its restore.
MARGIN = 1_000_000
SKIP = "SELECT setval(found, nextval(found) + %s) + 1 FROM to_regclass(%s) found"


def skip_numbers(sequence: str) -> int | None:
    """Skips numbers that may have been given; returns the next one, or None if there is no such sequence yet."""
    row = fetch_row(SKIP, [MARGIN, sequence])
    return row[0] if row else None
