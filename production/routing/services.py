"""Counts the jobs of each provider by day."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django.db import connection

ROUTING_LOCK = 0x0DE6
COUNT = """
INSERT INTO production_routingtally AS known (day, provider_id, rule_id, jobs)
SELECT %s, * FROM unnest(%s::bigint[], %s::bigint[], %s::integer[])
ON CONFLICT (day, provider_id, rule_id) DO UPDATE SET jobs = known.jobs + excluded.jobs
"""


def lock_routing() -> None:
    """Serialises routing until the transaction ends, so that shares and capacities are exact."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [ROUTING_LOCK])


def count_jobs(counts: Mapping[tuple[int, int | None], int], *, at: datetime) -> None:
    """By provider and rule, which is none where a person chose the provider."""
    if not counts:
        return
    providers, rules = zip(*counts, strict=True)
    values: list[Any] = [at.astimezone(UTC).date(), list(providers), list(rules), list(counts.values())]
    with connection.cursor() as cursor:
        cursor.execute(COUNT, values)
