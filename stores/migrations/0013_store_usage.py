import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """API calls by store and day."""

    dependencies = [("stores", "0012_eddm_items")]

    operations = [
        migrations.CreateModel(
            name="StoreUsage",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "store_id", "day", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("day", models.DateField()),
                ("calls", models.BigIntegerField()),
                (
                    "store",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="stores.store",
                    ),
                ),
            ],
            options={"indexes": [models.Index(models.F("day"), name="store_usage_day")]},
        ),
    ]
