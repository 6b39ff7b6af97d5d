import django.db.models.deletion
from django.db import migrations, models

from fulfillment.core.db.partition_migrations import PartitionTable

# Statements alone while the tables are locked: Django takes a second for a change of its models.
FORWARDS = """
SET LOCAL lock_timeout = '2s';
LOCK TABLE applications_event, applications_delivery, applications_deliveryattempt, applications_loggedrequest
    IN ACCESS EXCLUSIVE MODE;
ALTER TABLE applications_delivery DROP CONSTRAINT applications_deliver_event_id_a19f0edc_fk_applicati;
ALTER TABLE applications_deliveryattempt DROP CONSTRAINT applications_deliver_delivery_id_9cf65f90_fk_applicati;
"""
BACKWARDS = """
ALTER TABLE applications_delivery ADD CONSTRAINT applications_deliver_event_id_a19f0edc_fk_applicati
    FOREIGN KEY (event_id) REFERENCES applications_event (id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE applications_deliveryattempt ADD CONSTRAINT applications_deliver_delivery_id_9cf65f90_fk_applicati
    FOREIGN KEY (delivery_id) REFERENCES applications_delivery (id) DEFERRABLE INITIALLY DEFERRED;
"""


class Migration(migrations.Migration):
    """Events, deliveries, attempts and the request log become partitioned, their tables the first partitions.

    No row is read or copied. All four tables, of any size, are locked for about 0.1 s; where the locks
    are not free within two seconds nothing has changed, and `prepare` is repeated.

    Backwards all rows are copied, and their IDs stay: forwards again is possible while there is no second partition.
    """

    dependencies = [("applications", "0007_partition_bounds")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
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
            ]
        ),
        migrations.RunSQL(FORWARDS, BACKWARDS),
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
        # Copying large tables takes longer than a statement of the service may.
        migrations.RunSQL(migrations.RunSQL.noop, "SET LOCAL statement_timeout = 0"),
    ]
