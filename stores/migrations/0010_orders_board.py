from django.contrib.postgres.indexes import BrinIndex
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """Indexes of the board, built while orders go on coming in."""

    atomic = False
    dependencies = [("stores", "0009_artwork_uploads")]

    operations = [
        AddIndexConcurrently(
            "order",
            models.Index(models.F("status"), models.F("number"), name="order_board_by_status"),
        ),
        AddIndexConcurrently(
            "order",
            models.Index(
                models.F("external_id"),
                condition=models.Q(external_id__isnull=False),
                name="order_board_by_external_id",
            ),
        ),
        AddIndexConcurrently(
            "order",
            BrinIndex(models.F("created"), name="order_board_by_date", pages_per_range=32),
        ),
        AddIndexConcurrently(
            "shipment",
            models.Index(models.F("tracking_number"), name="shipment_by_tracking_number"),
        ),
    ]
