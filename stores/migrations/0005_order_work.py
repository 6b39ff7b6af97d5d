import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

# Days before the upgrade are UTC's; nothing shows those of more than two weeks ago.
COUNT_DAYS = """
INSERT INTO stores_orderday (store_id, day, placed, shipped)
SELECT store_id, day, sum(placed), sum(shipped) FROM (
    SELECT o.store_id, (o.created AT TIME ZONE 'UTC')::date AS day, 1 AS placed, 0 AS shipped
    FROM stores_order o WHERE o.created > now() - interval '35 days'
    UNION ALL
    SELECT o.store_id, (h.timestamp AT TIME ZONE 'UTC')::date, 0, 1
    FROM stores_order o JOIN stores_orderhistory h ON h.order_id = o.id
    WHERE o.created > now() - interval '60 days' AND h.timestamp > now() - interval '35 days'
        AND h.status = 60 AND h.previous_status <> 60
) counted GROUP BY store_id, day
"""


class Migration(migrations.Migration):
    """Comments on orders, saved views of their list, and what stores place and ship in a day."""

    dependencies = [
        ("stores", "0004_store_profiles"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="OrderComment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "order",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="comments",
                        to="stores.order",
                    ),
                ),
                (
                    "author",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("text", models.TextField(max_length=2000)),
                ("created", models.DateTimeField()),
            ],
            options={
                "ordering": ["order", "id"],
                "indexes": [
                    models.Index(models.F("order"), models.F("id"), name="order_comment_of_order"),
                    models.Index(
                        models.F("author"),
                        condition=models.Q(("author__isnull", False)),
                        name="order_comment_of_author",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="OrderDay",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "store", "day", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "store",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="stores.store",
                    ),
                ),
                ("day", models.DateField()),
                ("placed", models.PositiveIntegerField(db_default=0)),
                ("shipped", models.PositiveIntegerField(db_default=0)),
            ],
            options={"indexes": [models.Index(models.F("day"), name="order_day_by_day")]},
        ),
        migrations.CreateModel(
            name="OrderView",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("name", models.CharField(max_length=40)),
                ("query", models.CharField(blank=True, max_length=1000)),
                ("is_shared", models.BooleanField(default=False)),
                (
                    "store",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="stores.store",
                    ),
                ),
                ("created", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ["name", "pk"],
                "indexes": [
                    models.Index(
                        models.F("name"),
                        condition=models.Q(("is_shared", True)),
                        name="order_view_shared",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        models.F("owner"), models.F("name"), name="order_view_name_unique"
                    )
                ],
            },
        ),
        migrations.RunSQL(
            ["SET LOCAL statement_timeout = 0", COUNT_DAYS], migrations.RunSQL.noop
        ),
    ]
