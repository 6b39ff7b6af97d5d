from django.db import migrations

from fulfillment.core.db.partition_migrations import BoundTable


class Migration(migrations.Migration):
    """Reads the four tables once, beside reads and writes, so that 0008 need not."""

    atomic = False
    dependencies = [("applications", "0006_webhook_events")]

    operations = [
        # The service's own limit would end the check of a large table.
        migrations.RunSQL("SET statement_timeout = 0", migrations.RunSQL.noop),
        BoundTable("applications_event", "id"),
        BoundTable("applications_delivery", "event_id"),
        BoundTable("applications_deliveryattempt", "delivery_id"),
        BoundTable("applications_loggedrequest", "id"),
        migrations.RunSQL("RESET statement_timeout", migrations.RunSQL.noop),
    ]
