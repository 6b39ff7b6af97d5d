import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    """The ledger of hot folders; what lies in the folders themselves is carried over when they are polled."""

    dependencies = [("production", "0005_adapters_without_choices")]

    operations = [
        migrations.CreateModel(
            name="LedgerRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.CharField(max_length=40)),
                ("state", models.CharField(max_length=10)),
                ("work", models.CharField(max_length=40)),
                (
                    "names",
                    django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), size=None),
                ),
                ("digests", models.JSONField()),
                (
                    "marks",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=20), size=None
                    ),
                ),
                ("updated", models.DateTimeField()),
                (
                    "provider",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="production.provider",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        models.F("provider"),
                        condition=Q(("state", "done"), Q(("marks__contains", ["taken"]), _negated=True)),
                        name="ledger_waiting",
                    ),
                    models.Index(models.F("updated"), name="ledger_by_age"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        models.F("provider"), models.F("number"), name="ledger_number_once"
                    ),
                    models.CheckConstraint(
                        condition=Q(("state__in", ("prepared", "done", "cancelled"))),
                        name="ledger_state_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="LedgerStem",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("stem", models.TextField(db_index=True)),
                (
                    "row",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="stems",
                        to="production.ledgerrow",
                    ),
                ),
            ],
        ),
    ]
