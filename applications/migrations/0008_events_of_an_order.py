import django.contrib.postgres.indexes
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations
from django.db.models.fields.json import KeyTransform


class Migration(migrations.Migration):
    """Beside the running service: events are written while the index is made."""

    atomic = False
    dependencies = [("applications", "0007_owner_invitations")]

    operations = [
        AddIndexConcurrently(
            model_name="event",
            index=django.contrib.postgres.indexes.HashIndex(
                KeyTransform("OrderID", "data"), name="event_of_order"
            ),
        ),
    ]
