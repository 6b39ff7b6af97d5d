from django.db import migrations, models

from fulfillment.core.db.index_builds import BuildIndexConcurrently


class Migration(migrations.Migration):
    """Beside the running service: orders are written while the index is made."""

    atomic = False
    dependencies = [("stores", "0006_erased_recipients")]

    operations = [
        BuildIndexConcurrently(
            model_name="order",
            index=models.Index(
                models.F("updated"),
                condition=models.Q(
                    ("recipient_erased__isnull", True), ("status__in", [60, 70, 80, 90, 95])
                ),
                name="order_with_old_address",
            ),
        ),
    ]
