from django.db import migrations, models

from fulfillment.core.db.index_builds import USUAL_LIMITS, WITHOUT_LIMITS

NEW = """
CREATE UNIQUE INDEX CONCURRENTLY order_external_id_unique
ON stores_order (store_id, application_id, external_id_user, external_id) NULLS NOT DISTINCT
WHERE external_id IS NOT NULL
"""
OLD = """
CREATE UNIQUE INDEX CONCURRENTLY order_external_id_for_ever
ON stores_order (store_id, application_id, external_id) NULLS NOT DISTINCT
WHERE external_id IS NOT NULL
"""
CONDITION = models.Q(external_id__isnull=False)


def drop(name: str) -> str:
    return f"DROP INDEX CONCURRENTLY IF EXISTS {name}"


class Migration(migrations.Migration):
    """ExternalIDs of a first-party application are unique for each of its users.

    Older orders keep a null: they are found by their user before a new one is written, and to write a million rows
    anew would put a million events into the trail. The indexes are built while orders go on coming in.
    """

    atomic = False
    dependencies = [("stores", "0014_template_changes")]

    operations = [
        migrations.AddField("order", "external_id_user", models.UUIDField(null=True, editable=False)),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveConstraint("order", "order_external_id_for_ever"),
                migrations.AddConstraint(
                    "order",
                    models.UniqueConstraint(
                        models.F("store"),
                        models.F("application"),
                        models.F("external_id_user"),
                        models.F("external_id"),
                        condition=CONDITION,
                        name="order_external_id_unique",
                        nulls_distinct=False,
                    ),
                ),
            ],
            database_operations=[
                # What an interrupted build left, mostly an invalid index, makes way.
                migrations.RunSQL(WITHOUT_LIMITS, USUAL_LIMITS),
                migrations.RunSQL(drop("order_external_id_unique"), OLD),
                migrations.RunSQL(NEW, drop("order_external_id_for_ever")),
                migrations.RunSQL(drop("order_external_id_for_ever"), drop("order_external_id_unique")),
                migrations.RunSQL(USUAL_LIMITS, WITHOUT_LIMITS),
            ],
        ),
    ]
