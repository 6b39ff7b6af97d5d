"""Metrics of this app."""

from fulfillment.core.observability.instruments import Gauges

# Uses the indexes of open and due jobs; attempts: only the newest 10,000.
JOBS = """
SELECT 'print_jobs_open', state, count(*)::float8 FROM production_job
WHERE state IN ('Queued', 'Sent', 'Acknowledged', 'InProduction') GROUP BY state
UNION ALL
SELECT 'print_jobs_failed', '', count(*)::float8 FROM production_job WHERE state = 'Failed'
UNION ALL
SELECT 'print_jobs_oldest_seconds', '', coalesce(max(extract(epoch FROM now() - created)), 0)::float8
FROM production_job WHERE state = 'Queued' AND held = '' AND next_try IS NOT NULL
UNION ALL
SELECT 'print_providers_failing', '', count(*)::float8 FROM production_provider
WHERE is_enabled AND failing_since < now() - interval '20 seconds'
UNION ALL
SELECT 'print_exchanges_5m', outcome, count(*)::float8
FROM (SELECT outcome, started FROM production_attempt ORDER BY id DESC LIMIT 10000) newest
WHERE started > now() - interval '5 minutes' AND outcome <> '' GROUP BY outcome
"""
GAUGES = Gauges(
    JOBS,
    {
        "print_jobs_open": ("Print jobs on their way, by state.", "state"),
        "print_jobs_failed": ("Print jobs that wait for a person.", ""),
        "print_jobs_oldest_seconds": ("Age of the oldest print job that is not sent; 0 when none waits.", ""),
        "print_providers_failing": ("Print providers that cannot be reached.", ""),
        "print_exchanges_5m": ("Exchanges with providers in 5 minutes, of the newest 10,000.", "outcome"),
    },
)
