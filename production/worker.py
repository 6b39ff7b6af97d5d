from fulfillment.core.outbox import ThreadedOutbox
from production.dispatch.services.choosing import JOBS_AT_ONCE
from production.dispatch.services.polling import claim_providers_to_poll, poll_provider
from production.dispatch.services.sending import claim_due_jobs, work_on_job
from production.gang_sheets.services.sending import claim_due_sheets, record_sheet_fault, work_on_sheet
from production.jobs.services.outcomes import record_fault

# Sheets of different providers. Few, because a sheet takes many pages and much memory.
SHEETS_AT_ONCE = 3
# Each provider has a thread of its own while it is polled, up to so many.
POLLS_AT_ONCE = 16
PROVIDER_POLL_SECONDS = 1.0


def services() -> list[ThreadedOutbox[int]]:
    """Called in the worker's event loop."""
    return [
        ThreadedOutbox(
            "print jobs",
            claim=claim_due_jobs,
            work=lambda key: work_on_job(job_pk=key),
            record_fault=lambda key: record_fault(job_pk=key),
            at_once=JOBS_AT_ONCE,
        ),
        ThreadedOutbox(
            "gang sheets",
            claim=claim_due_sheets,
            work=lambda key: work_on_sheet(sheet_pk=key),
            record_fault=lambda key: record_sheet_fault(sheet_pk=key),
            at_once=SHEETS_AT_ONCE,
        ),
        ThreadedOutbox(
            "print reports",
            claim=claim_providers_to_poll,
            work=lambda key: poll_provider(provider_pk=key),
            at_once=POLLS_AT_ONCE,
            poll_seconds=PROVIDER_POLL_SECONDS,
        ),
    ]
