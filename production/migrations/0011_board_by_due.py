from django.contrib.postgres.operations import RemoveIndexConcurrently
from django.db import migrations, models

from fulfillment.core.db.repeatable import AddIndexConcurrently

IN_WORK = models.Q(("state__in", ("Queued", "Sent", "Acknowledged", "InProduction", "Failed")))
SHOWN = ("due", "id", "state", "held")


class Migration(migrations.Migration):
    """The production board lists what must ship first: it walks along these, however many jobs are done."""

    atomic = False
    dependencies = [("production", "0010_close_jobs_of_ended_orders")]

    operations = [
        # The service's own limits would end the build of a large index.
        migrations.RunSQL("SET statement_timeout = 0; SET lock_timeout = 0", migrations.RunSQL.noop),
        AddIndexConcurrently("job", models.Index(*SHOWN, condition=IN_WORK, name="job_by_due")),
        AddIndexConcurrently(
            "job", models.Index("store", *SHOWN, condition=IN_WORK, name="job_by_due_of_store")
        ),
        AddIndexConcurrently(
            "job", models.Index("provider", *SHOWN, condition=IN_WORK, name="job_by_due_of_provider")
        ),
        RemoveIndexConcurrently("job", "job_open_by_due"),
        RemoveIndexConcurrently("job", "job_in_work"),
        RemoveIndexConcurrently("job", "job_in_work_of_store"),
        RemoveIndexConcurrently("job", "job_in_work_of_provider"),
        migrations.RunSQL("RESET statement_timeout; RESET lock_timeout", migrations.RunSQL.noop),
    ]
