"""/metrics for Prometheus: the figures of all web processes, and what workers do as it stands in the database.

Workers have no door of their own: any number of them may run anywhere, and their results are rows.
"""

import hmac
from collections.abc import Iterator

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector

from fulfillment.core.api.errors import DATABASE_AWAY, problem, unknown_path
from fulfillment.core.db.prepared import fetch_rows
from fulfillment.site.proxies import is_trusted

# Only the newest attempts are looked at, so that the question costs the same however many there are.
FIGURES = """
SELECT 'queue_jobs', coalesce(queue_name, ''), count(*)::float8 FROM procrastinate_jobs
WHERE status = 'todo' AND (scheduled_at IS NULL OR scheduled_at <= now()) GROUP BY queue_name
UNION ALL
SELECT 'queue_oldest_seconds', coalesce(job.queue_name, ''),
       max(extract(epoch FROM now() - coalesce(job.scheduled_at, deferred.at)))::float8
FROM procrastinate_jobs job LEFT JOIN LATERAL (
    SELECT min(event.at) AS at FROM procrastinate_events event WHERE event.job_id = job.id
) deferred ON true
WHERE job.status = 'todo' AND (job.scheduled_at IS NULL OR job.scheduled_at <= now()) GROUP BY job.queue_name
UNION ALL
SELECT 'queue_failed', coalesce(queue_name, ''), count(*)::float8 FROM procrastinate_jobs
WHERE status = 'failed' GROUP BY queue_name
UNION ALL
SELECT 'workers_alive', '', count(*)::float8 FROM procrastinate_workers
WHERE last_heartbeat > now() - interval '30 s'
UNION ALL
SELECT 'deliveries_waiting', '', count(*)::float8 FROM applications_delivery WHERE state = 'Pending'
UNION ALL
SELECT 'deliveries_oldest_seconds', '', coalesce(max(extract(epoch FROM now() - next_try)), 0)::float8
FROM applications_delivery WHERE state = 'Pending' AND next_try <= now()
UNION ALL
SELECT 'deliveries_failed', '', count(*)::float8 FROM applications_delivery WHERE state = 'Failed'
UNION ALL
SELECT 'delivery_attempts_5m', CASE WHEN status_code BETWEEN 200 AND 299 THEN 'delivered' ELSE 'refused' END,
       count(*)::float8
FROM (SELECT status_code, timestamp FROM applications_deliveryattempt ORDER BY id DESC LIMIT 10000) newest
WHERE timestamp > now() - interval '5 minutes' GROUP BY 2
"""
TEXTS = {
    "queue_jobs": ("Jobs that wait for a worker.", "queue"),
    "queue_oldest_seconds": ("How long the oldest of them has waited.", "queue"),
    "queue_failed": ("Jobs given up; they are kept for 30 days.", "queue"),
    "workers_alive": ("Workers heard of in the last 30 seconds.", ""),
    "deliveries_waiting": ("Webhook deliveries to be tried or tried again.", ""),
    "deliveries_oldest_seconds": ("How long the oldest of them has been due; 0 when none is.", ""),
    "deliveries_failed": ("Webhook deliveries given up.", ""),
    "delivery_attempts_5m": ("Attempts of the last 5 minutes, of the newest 10,000.", "result"),
}


class DatabaseFigures:
    def collect(self) -> Iterator[Metric]:
        """Of a database that is away one figure is left: that it is."""
        up = GaugeMetricFamily("fulfillment_database_up", "Whether the database answers: 1 or 0.")
        try:
            families = _families()
        except DATABASE_AWAY:
            families = []
        up.add_metric([], float(bool(families)))
        yield from [*families, up]


def _families() -> list[GaugeMetricFamily]:
    families = {
        name: GaugeMetricFamily(f"fulfillment_{name}", text, labels=[label] if label else [])
        for name, (text, label) in TEXTS.items()
    }
    for name, label, value in fetch_rows(FIGURES):
        families[name].add_metric([label] if TEXTS[name][1] else [], value or 0)
    return list(families.values())


@require_safe
def show_metrics(request: HttpRequest) -> HttpResponse:
    if not settings.METRICS_OPEN:
        return unknown_path(request)
    if not _may_see(request):
        challenge = {"WWW-Authenticate": 'Bearer realm="metrics"'}
        return problem(401, "metrics_closed", "The metrics need their own token.", headers=challenge)
    registry = CollectorRegistry()
    MultiProcessCollector(registry)
    body = generate_latest(registry)
    # What the processes counted is told also when the database is the one that is ill.
    own = CollectorRegistry()
    own.register(DatabaseFigures())
    body += generate_latest(own)
    return HttpResponse(body, content_type=CONTENT_TYPE_LATEST, headers={"Cache-Control": "no-store"})


def _may_see(request: HttpRequest) -> bool:
    if is_trusted(request.META.get("REMOTE_ADDR", ""), settings.METRICS_NETWORKS):
        return True
    sent = request.META.get("HTTP_AUTHORIZATION", "").removeprefix("Bearer ").strip()
    token = settings.METRICS_TOKEN
    return bool(token) and hmac.compare_digest(sent.encode(), token.encode())
