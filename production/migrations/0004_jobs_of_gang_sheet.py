from django.db import migrations, models

from fulfillment.core.db.repeatable import AddIndexConcurrently


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("production", "0003_gang_sheets")]

    operations = [
        # The service's own limits would end the build of a large index.
        migrations.RunSQL("SET statement_timeout = 0; SET lock_timeout = 0", migrations.RunSQL.noop),
        AddIndexConcurrently(
            "job",
            models.Index(
                "gang_sheet", condition=models.Q(("gang_sheet__isnull", False)), name="job_of_gang_sheet"
            ),
        ),
        migrations.RunSQL("RESET statement_timeout; RESET lock_timeout", migrations.RunSQL.noop),
    ]
