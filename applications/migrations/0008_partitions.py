import django.db.models.deletion
from django.db import migrations, models

from fulfillment.core.db.partition_migrations import PartitionTable


class Migration(migrations.Migration):
    """Events, deliveries, attempts and the request log become partitioned, their tables the first partitions.

    No row is read or copied. All four tables are locked for some milliseconds, whatever their size; where the locks
    are not free within two seconds nothing has changed, and `prepare` is repeated.
    """

    dependencies = [("applications", "0007_partition_bounds")]

    operations = [
        migrations.RunSQL(
            "SET LOCAL lock_timeout = '2s'; LOCK TABLE applications_event, applications_delivery, "
            "applications_deliveryattempt, applications_loggedrequest IN ACCESS EXCLUSIVE MODE",
            "SET LOCAL statement_timeout = 0",
        ),
        migrations.AlterField(
            model_name="delivery",
            name="event",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="deliveries",
                to="applications.event",
            ),
        ),
        migrations.AlterField(
            model_name="deliveryattempt",
            name="delivery",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="attempts",
                to="applications.delivery",
            ),
        ),
        PartitionTable(
            "applications_event", "id", {"applications_event_event_id_key": "UNIQUE (event_id)"}
        ),
        PartitionTable(
            "applications_delivery", "event_id", {"applications_delivery_pkey": "PRIMARY KEY (id)"}
        ),
        PartitionTable(
            "applications_deliveryattempt",
            "delivery_id",
            {"applications_deliveryattempt_pkey": "PRIMARY KEY (id)"},
        ),
        PartitionTable("applications_loggedrequest", "id"),
    ]
