"""The probes, and the endpoint /metrics for Prometheus: figures of all web processes, and gauges from the database.

Workers have no endpoint: any number of them may run anywhere, and their results are in the database.
"""

import hmac
from collections.abc import Iterator

from django.conf import settings
from django.db import ProgrammingError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector

from fulfillment.core.api.errors import DATABASE_UNAVAILABLE, problem, unknown_path
from fulfillment.core.db.prepared import fetch_rows
from fulfillment.core.files.storage import room_for_files
from fulfillment.core.health import check_names, failures_by_check
from fulfillment.core.observability.instruments import Gauges
from fulfillment.core.plugins import offered_values
from fulfillment.site.proxies import is_trusted

JOBS = """
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
SELECT 'queue_retried', coalesce(queue_name, ''), count(*)::float8 FROM procrastinate_jobs
WHERE status = 'todo' AND attempts > 1 GROUP BY queue_name
UNION ALL
SELECT 'workers_alive', '', count(*)::float8 FROM procrastinate_workers
WHERE last_heartbeat > now() - interval '30 s'
"""
TEXTS = {
    "queue_jobs": ("Jobs that wait for a worker.", "queue"),
    "queue_oldest_seconds": ("How long the oldest of them has waited.", "queue"),
    "queue_retried": ("Jobs that failed more than once and are tried again.", "queue"),
    "queue_failed": ("Jobs given up; they are kept for 30 days.", "queue"),
    "workers_alive": ("Workers heard of in the last 30 seconds.", ""),
}

JOB_GAUGES = Gauges(JOBS, TEXTS)
# Before the first drill both count from the installation.
DRILL_GAUGES = Gauges(
    """
SELECT name, '', extract(epoch FROM now() - coalesce(at, (SELECT min(applied) FROM django_migrations)))::float8
FROM (SELECT max(passed) AS passed, max(backup_made) AS made FROM fulfillment_backupdrill) last
CROSS JOIN LATERAL (VALUES ('drill_passed_seconds', passed), ('drill_backup_seconds', made)) AS one (name, at)
""",
    {
        "drill_passed_seconds": ("How long ago a drill last restored a backup.", ""),
        "drill_backup_seconds": ("The age of the backup that it restored.", ""),
    },
)
GAUGES = (JOB_GAUGES, DRILL_GAUGES)


class DatabaseFigures:
    def collect(self) -> Iterator[Metric]:
        """Reads the gauges; for an unavailable database only those that say so."""
        up = GaugeMetricFamily("fulfillment_database_up", "Whether the database responds: 1 or 0.")
        ok = GaugeMetricFamily(
            "fulfillment_check_ok", "Whether a check of /readyz succeeds: 1 or 0.", labels=["check"]
        )
        failures = failures_by_check()
        for name, failure in failures.items():
            ok.add_metric([name], float(not failure))
        families = []
        is_up = not failures["database"]
        if is_up:
            every = (*GAUGES, *offered_values("metrics", "GAUGES"))
            try:
                families = [family for gauges in every for family in _families_of(gauges)]
            # It may end in between.
            except DATABASE_UNAVAILABLE:
                is_up = False
            except ProgrammingError:
                if not failures["migrations"]:
                    raise
        up.add_metric([], float(is_up))
        yield from [*families, ok, up]
        if room := room_for_files():
            text = "The free share of the disk with stored files."
            yield GaugeMetricFamily("fulfillment_files_free_ratio", text, value=room[0] / room[1])


def _families_of(gauges: Gauges) -> list[GaugeMetricFamily]:
    families = {
        name: GaugeMetricFamily(f"fulfillment_{name}", text, labels=[label] if label else [])
        for name, (text, label) in gauges.texts.items()
    }
    for name, label, value in fetch_rows(gauges.statement):
        families[name].add_metric([label] if gauges.texts[name][1] else [], value or 0)
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
    # Counters of the processes are shown even without the database.
    own = CollectorRegistry()
    own.register(DatabaseFigures())
    body += generate_latest(own)
    return HttpResponse(body, content_type=CONTENT_TYPE_LATEST, headers={"Cache-Control": "no-store"})


def _may_see(request: HttpRequest) -> bool:
    if is_trusted(request.META.get("REMOTE_ADDR", ""), settings.METRICS_NETWORKS):
        return True
    sent_token = request.META.get("HTTP_AUTHORIZATION", "").removeprefix("Bearer ").strip()
    token = settings.METRICS_TOKEN
    return bool(token) and hmac.compare_digest(sent_token.encode(), token.encode())


@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """The process answers; nothing else is checked."""
    return JsonResponse({"status": "ok"}, headers={"Cache-Control": "no-store"})


@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Answers 503 with the reason if a check fails; `failures_by_check` runs them.

    A web process can serve without a worker, and read without the storage: load balancers name
    the checks that count, as in `?only=database,migrations`, or use `?worker=0`.
    """
    only, ignored = request.GET.get("only", ""), {"worker"} if request.GET.get("worker") == "0" else set()
    if only and (unknown := set(only.split(",")) - check_names()):
        # Else a slip of a load balancer would find every machine ready.
        reason = (
            f"only: {sorted(unknown)[0][:40]!r} is no part; write some of {', '.join(sorted(check_names()))}."
        )
        return JsonResponse({"status": "unavailable", "reason": reason}, status=400)
    checks = failures_by_check()
    counted = set(only.split(",")) if only else checks.keys() - ignored
    failures = [checks[name] for name in checks if name in counted and checks[name]]
    # Without the database, some checks do not run.
    if counted - checks.keys():
        failures.append(checks["database"])
    headers = {"Cache-Control": "no-store"}
    reported = {name: failure or "ok" for name, failure in checks.items()}
    if failures:
        body = {"status": "unavailable", "reason": failures[0], "checks": reported}
        return JsonResponse(body, status=503, headers={**headers, "Retry-After": "5"})
    return JsonResponse({"status": "ready", "checks": reported}, headers=headers)
