import django.contrib.postgres.indexes
from django.db import migrations
from django.db.models.fields.json import KeyTransform

from fulfillment.core.db.index_builds import BuildIndexConcurrently


class Migration(migrations.Migration):
    """Beside the running service: events are written while the index is made."""

    atomic = False
    dependencies = [("applications", "0007_owner_invitations")]

    operations = [
        BuildIndexConcurrently(
            model_name="event",
            index=django.contrib.postgres.indexes.HashIndex(
                KeyTransform("OrderID", "data"), name="event_of_order"
            ),
        ),
    ]
