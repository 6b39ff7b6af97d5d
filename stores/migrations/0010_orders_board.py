from django.contrib.postgres.indexes import BrinIndex
from django.db import migrations, models

from fulfillment.core.db.index_builds import BuildIndexConcurrently


class Migration(migrations.Migration):
    """Indexes of the board, built while orders go on coming in."""

    atomic = False
    dependencies = [("stores", "0009_artwork_uploads")]

    operations = [
        BuildIndexConcurrently(
            "order",
            models.Index(models.F("status"), models.F("number"), name="order_board_by_status"),
        ),
        BuildIndexConcurrently(
            "order",
            models.Index(
                models.F("external_id"),
                condition=models.Q(external_id__isnull=False),
                name="order_board_by_external_id",
            ),
        ),
        BuildIndexConcurrently(
            "order",
            BrinIndex(models.F("created"), name="order_board_by_date", pages_per_range=32),
        ),
        BuildIndexConcurrently(
            "shipment",
            models.Index(models.F("tracking_number"), name="shipment_by_tracking_number"),
        ),
    ]
