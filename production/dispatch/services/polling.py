"""Asks providers for reports about their jobs."""

import time
from collections.abc import Collection, Sequence
from datetime import timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from fulfillment.core.db.locks import lock_of_its_own
from production.dispatch.services.reports import receive_reports
from production.interface import POLL_SECONDS, ProviderRefused, ProviderUnavailable
from production.jobs.models import OPEN
from production.providers.models import Provider
from production.providers.selectors import adapter_of
from production.providers.services import note_failure, note_success

POLL_EVERY = timedelta(seconds=5)
POLL_LOCKS = 0x10C << 44
# Polls of one provider in a row, as long as each finds reports: then others have their turn.
MAX_IN_A_ROW = 10


@transaction.atomic
def claim_providers_to_poll(*, limit: int, under_way: Collection[int] = ()) -> Sequence[int]:
    """Claims providers for one worker, but not those it is polling; they are due again after POLL_EVERY.

    Disabled providers are polled as long as they have jobs.
    """
    with_jobs = Provider.objects.filter(is_enabled=False, jobs__state__in=OPEN)
    due = Provider.objects.filter(
        Q(last_polled__isnull=True) | Q(last_polled__lte=timezone.now() - POLL_EVERY),
        Q(is_enabled=True) | Q(pk__in=with_jobs.values("pk")),
    )
    keys = list(
        due.exclude(pk__in=under_way)
        .order_by("last_polled")
        .select_for_update(skip_locked=True, of=("self",), no_key=True)
        .values_list("pk", flat=True)[:limit]
    )
    if keys:
        Provider.objects.filter(pk__in=keys).update(last_polled=timezone.now())
    return keys


def poll_provider(*, provider_pk: int) -> int:
    """Reads all reports at the provider in parts, none after POLL_SECONDS; returns their number."""
    count, until = 0, time.monotonic() + POLL_SECONDS
    with lock_of_its_own(POLL_LOCKS | provider_pk) as is_ours:
        for _ in range(MAX_IN_A_ROW if is_ours else 0):
            new_count = _poll_once(Provider.objects.get(pk=provider_pk))
            count += new_count
            if not new_count or time.monotonic() > until:
                break
    return count


def _poll_once(provider: Provider) -> int:
    """Stores new reports, then confirms them. After a crash in between they are read again, without effect."""
    try:
        adapter = adapter_of(provider)
        reports = adapter.poll()
        receive_reports(provider=provider, reports=reports)
        if reports:
            adapter.confirm(reports)
    except (ProviderUnavailable, ProviderRefused, ValueError) as error:
        note_failure(provider=provider, message=str(error))
        return 0
    if provider.failing_since is not None and reports:
        note_success(provider=provider)
    return len(reports)
