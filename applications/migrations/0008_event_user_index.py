from django.db import migrations, models

from fulfillment.core.db.repeatable import AddIndexConcurrently


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("applications", "0007_event_user")]

    operations = [
        # The service's own limits would end the build of a large index.
        migrations.RunSQL("SET statement_timeout = 0; SET lock_timeout = 0", migrations.RunSQL.noop),
        AddIndexConcurrently(
            "event",
            models.Index(
                "application",
                "user_id",
                "transaction",
                "id",
                condition=models.Q(("user_id__isnull", False)),
                name="event_of_user",
            ),
        ),
    ]
