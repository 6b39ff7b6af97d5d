from django.db import migrations, models

from fulfillment.core.db.index_builds import BuildIndexConcurrently


class Migration(migrations.Migration):
    """For `updatedAfter` of the export view, built while orders go on coming in."""

    atomic = False
    dependencies = [("stores", "0016_proof_traces")]

    operations = [
        BuildIndexConcurrently(
            "order",
            models.Index(
                models.F("store"), models.F("updated"), models.F("position"), name="order_by_update"
            ),
        ),
    ]
