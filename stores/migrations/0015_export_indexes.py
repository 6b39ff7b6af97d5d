import django.contrib.postgres.indexes
from django.contrib.postgres.operations import RemoveIndexConcurrently
from django.db import migrations, models

from fulfillment.core.db.repeatable import AddIndexConcurrently


class Migration(migrations.Migration):
    """One index for each filter of the export view, built while orders go on coming in."""

    atomic = False
    dependencies = [("stores", "0014_order_changes")]

    operations = [
        # The service's own limits would end the build of a large index.
        migrations.RunSQL("SET statement_timeout = 0; SET lock_timeout = 0", migrations.RunSQL.noop),
        AddIndexConcurrently(
            "order",
            models.Index(models.F("store"), models.F("created"), models.F("id"), condition=models.Q(("is_test", False)), name="order_live_by_created"),
        ),
        AddIndexConcurrently(
            "order",
            models.Index(models.F("store"), models.F("created"), models.F("id"), condition=models.Q(("is_test", True)), name="order_test_by_created"),
        ),
        AddIndexConcurrently(
            "order",
            models.Index(models.F("store"), models.F("status"), models.F("created"), models.F("id"), name="order_by_status_created"),
        ),
        AddIndexConcurrently(
            "order",
            models.Index(models.F("store"), models.F("updated"), condition=models.Q(("is_test", False)), name="order_live_by_updated"),
        ),
        AddIndexConcurrently(
            "order",
            models.Index(models.F("store"), models.F("application"), models.F("created"), models.F("id"), name="order_by_application_created"),
        ),
        AddIndexConcurrently(
            "order",
            models.Index(models.F("store"), models.F("user"), models.F("created"), models.F("id"), condition=models.Q(("user__isnull", False)), name="order_by_user_created"),
        ),
        AddIndexConcurrently(
            "order",
            django.contrib.postgres.indexes.GinIndex(models.F("product_ids"), name="order_by_product_ids"),
        ),
        AddIndexConcurrently(
            "orderitem",
            models.Index(models.F("product"), name="order_item_of_product"),
        ),
        RemoveIndexConcurrently("order", "order_by_date"),
        RemoveIndexConcurrently("order", "order_by_status"),
        RemoveIndexConcurrently("order", "order_by_application"),
        RemoveIndexConcurrently("order", "order_by_user"),
        RemoveIndexConcurrently("order", "order_by_update"),
        RemoveIndexConcurrently("order", "order_by_change"),
        RemoveIndexConcurrently("orderitem", "order_item_by_product"),
        migrations.RunSQL("RESET statement_timeout; RESET lock_timeout", migrations.RunSQL.noop),
    ]
