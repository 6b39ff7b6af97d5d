from django.db import migrations, models

from fulfillment.core.db.repeatable import AddIndexConcurrently

IN_WORK = models.Q(("state__in", ("Queued", "Sent", "Acknowledged", "InProduction", "Failed")))
SHOWN = ("id", "state", "held", "due")


class Migration(migrations.Migration):
    """The production board walks along these, however many jobs are done."""

    atomic = False
    dependencies = [("production", "0001_production_jobs")]

    operations = [
        # The service's own limits would end the build of a large index.
        migrations.RunSQL("SET statement_timeout = 0; SET lock_timeout = 0", migrations.RunSQL.noop),
        AddIndexConcurrently("job", models.Index(*SHOWN, condition=IN_WORK, name="job_in_work")),
        AddIndexConcurrently(
            "job", models.Index("store", *SHOWN, condition=IN_WORK, name="job_in_work_of_store")
        ),
        AddIndexConcurrently(
            "job", models.Index("provider", *SHOWN, condition=IN_WORK, name="job_in_work_of_provider")
        ),
        AddIndexConcurrently("job", models.Index("store", "id", name="job_all_of_store")),
        AddIndexConcurrently("job", models.Index("provider", "id", name="job_all_of_provider")),
        migrations.RunSQL("RESET statement_timeout; RESET lock_timeout", migrations.RunSQL.noop),
    ]
