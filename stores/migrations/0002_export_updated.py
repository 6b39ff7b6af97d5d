from django.db import migrations, models

from fulfillment.core.db.repeatable import AddIndexConcurrently


class Migration(migrations.Migration):
    """For `updatedAfter` of the export view, built while orders go on coming in."""

    atomic = False
    dependencies = [("stores", "0001_stores_and_orders")]

    operations = [
        # The service's own limits would end the build of a large index.
        migrations.RunSQL("SET statement_timeout = 0; SET lock_timeout = 0", migrations.RunSQL.noop),
        AddIndexConcurrently(
            "order",
            models.Index(
                models.F("store"), models.F("updated"), models.F("position"), name="order_by_update"
            ),
        ),
        migrations.RunSQL("RESET statement_timeout; RESET lock_timeout", migrations.RunSQL.noop),
    ]
