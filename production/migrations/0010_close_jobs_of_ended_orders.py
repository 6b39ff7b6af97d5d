"""Closes jobs of orders that a person moved to their end before that closed their jobs."""

from typing import Any

from django.db import migrations
from django.db.models import F, Q
from django.utils import timezone

SHIPPED, CANCELLED = (60, 70, 80), (90, 95)
AT_PROVIDER = ("Sent", "Acknowledged", "InProduction")
NOTE = "Closed by an update of the service, because the order had ended."


def close_jobs(apps: Any, schema_editor: Any) -> None:
    """Except those that a provider may have without an answer, or of a cancelled order: they are cancelled there."""
    jobs = apps.get_model("production", "Job").objects.all()
    unsent = Q(state="Failed") | Q(state="Queued", is_uncertain=False, gang_sheet=None, provider_order="")
    _close(apps, jobs.filter(order__status__in=SHIPPED, state__in=AT_PROVIDER), "Shipped")
    _close(apps, jobs.filter(unsent, order__status__in=(*SHIPPED, *CANCELLED), cancel_requested=None), "Cancelled")


def _close(apps: Any, jobs: Any, state: str) -> None:
    history = apps.get_model("production", "JobHistory")
    now, found = timezone.now(), dict(jobs.values_list("pk", "state"))
    rows = [
        history(job_id=key, previous_state=previous, state=state, timestamp=now, actor_kind="System", note=NOTE)
        for key, previous in found.items()
    ]
    history.objects.bulk_create(rows, batch_size=1000)
    closed = apps.get_model("production", "Job").objects.filter(pk__in=list(found))
    closed.update(state=state, next_try=None, held="", cancel_requested=None, failing_since=None, updated=now)


def open_jobs(apps: Any, schema_editor: Any) -> None:
    """Gives back the states; a queued job is not sent, because its order has ended."""
    entries = apps.get_model("production", "JobHistory").objects.filter(note=NOTE)
    jobs = apps.get_model("production", "Job").objects
    for key, before in entries.filter(state=F("job__state")).values_list("job", "previous_state"):
        jobs.filter(pk=key).update(state=before)
    entries.delete()


class Migration(migrations.Migration):
    dependencies = [("production", "0009_job_provider_order"), ("stores", "0021_product_print_fields")]

    operations = [migrations.RunPython(close_jobs, open_jobs)]
