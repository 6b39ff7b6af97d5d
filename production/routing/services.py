"""Counts the jobs of each provider by day."""

from datetime import UTC, datetime

from django.db import connection, transaction

ROUTING_LOCK = 0x0DE6
COUNT = """
INSERT INTO production_routingtally AS known (day, provider_id, rule_id, jobs) VALUES (%s, %s, %s, 1)
ON CONFLICT (day, provider_id, rule_id) DO UPDATE SET jobs = known.jobs + 1
"""


def lock_routing() -> None:
    """Serialises routing until the transaction ends, so that shares and capacities are exact."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [ROUTING_LOCK])


@transaction.atomic
def count_job(*, provider_pk: int, rule_pk: int | None, at: datetime) -> None:
    with connection.cursor() as cursor:
        cursor.execute(COUNT, [at.astimezone(UTC).date(), provider_pk, rule_pk])
