"""Retention of events, deliveries and deleted webhooks."""

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Any

from django.db import connection
from django.utils import timezone

from applications.webhooks.models import WebhookSecret
from applications.webhooks.selectors.webhooks import RETENTION
from fulfillment.core.audit.retention import RetentionRule, rule_for_rows

# Several batches in one statement: the rows are small and unread, so it takes a fraction of a second.
BATCHES_AT_ONCE = 8

OLD_EVENTS = "SELECT id FROM applications_event WHERE timestamp <= %(before)s"
REMOVE_EVENTS = f"""
WITH old AS MATERIALIZED ({OLD_EVENTS} ORDER BY timestamp LIMIT %(batch)s FOR UPDATE SKIP LOCKED),
deliveries AS (
    DELETE FROM applications_delivery d USING old WHERE d.event_id = old.id RETURNING d.id
), attempts AS (
    DELETE FROM applications_deliveryattempt a USING deliveries WHERE a.delivery_id = deliveries.id
)
DELETE FROM applications_event e USING old WHERE e.id = old.id
"""  # noqa: S608 - made of constants
DELETED_LOG = """
SELECT d.id FROM applications_delivery d JOIN applications_webhook w ON w.id = d.webhook_id
WHERE w.deleted <= %(before)s
"""
REMOVE_DELETED_LOG = f"""
WITH old AS MATERIALIZED ({DELETED_LOG} LIMIT %(batch)s FOR UPDATE OF d SKIP LOCKED),
attempts AS (DELETE FROM applications_deliveryattempt a USING old WHERE a.delivery_id = old.id)
DELETE FROM applications_delivery d USING old WHERE d.id = old.id
"""  # noqa: S608
DELETED_WEBHOOKS = """
SELECT id FROM applications_webhook w WHERE deleted <= %(before)s
    AND NOT EXISTS (SELECT FROM applications_delivery d WHERE d.webhook_id = w.id)
"""
REMOVE_DELETED_WEBHOOKS = f"""
WITH old AS MATERIALIZED ({DELETED_WEBHOOKS} LIMIT %(batch)s),
secrets AS (DELETE FROM applications_webhooksecret s USING old WHERE s.webhook_id = old.id)
DELETE FROM applications_webhook w USING old WHERE w.id = old.id
"""  # noqa: S608


def retention_rules() -> list[RetentionRule]:
    # After this time deliveries under way at the deletion have ended.
    ended = timedelta(hours=1)
    return [
        _make_rule("events with their deliveries", OLD_EVENTS, REMOVE_EVENTS, RETENTION),
        _make_rule("deliveries of deleted webhooks", DELETED_LOG, REMOVE_DELETED_LOG, ended),
        _make_rule("deleted webhooks", DELETED_WEBHOOKS, REMOVE_DELETED_WEBHOOKS, ended),
        rule_for_rows("webhook secrets", lambda: WebhookSecret.objects.filter(expires__lte=timezone.now())),
    ]


def _make_rule(name: str, find: str, remove: str, age: timedelta) -> RetentionRule:
    def parameters(batch: int) -> Mapping[str, Any]:
        return {"before": timezone.now() - age, "batch": batch}

    def count() -> int:
        statement = f"SELECT count(*) FROM ({find}) found"  # noqa: S608 - one of the constants above
        return _run(statement, parameters(0), lambda cursor: cursor.fetchone()[0])

    def remove_all(batch: int) -> Iterator[int]:
        while removed := _run(remove, parameters(batch * BATCHES_AT_ONCE), lambda cursor: cursor.rowcount):
            yield removed

    return RetentionRule(name, count, remove_all)


def _run(statement: str, parameters: Mapping[str, Any], result: Callable[[Any], int]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return result(cursor)
