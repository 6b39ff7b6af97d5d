from django.db import migrations, models

from fulfillment.core.db.repeatable import AddIndexConcurrently

AT_WORK = models.Q(("status__in", [10, 20, 30, 40, 50]))


class Migration(migrations.Migration):
    """For the console's list of orders, built while orders go on coming in."""

    atomic = False
    dependencies = [("stores", "0005_order_work")]

    operations = [
        # The service's own limits would end the build of a large index.
        migrations.RunSQL("SET statement_timeout = 0; SET lock_timeout = 0", migrations.RunSQL.noop),
        AddIndexConcurrently(
            "order",
            models.Index(
                models.F("latest_delivery"),
                models.F("number"),
                condition=AT_WORK,
                name="order_board_by_due_date",
            ),
        ),
        AddIndexConcurrently(
            "order",
            models.Index(
                models.F("store"),
                models.F("latest_delivery"),
                models.F("number"),
                condition=AT_WORK,
                name="order_by_due_date",
            ),
        ),
        AddIndexConcurrently(
            "order",
            models.Index(
                models.F("delivery_method_code"), models.F("number"), name="order_board_by_method"
            ),
        ),
        AddIndexConcurrently(
            "order",
            models.Index(
                models.F("reprint_of"),
                condition=models.Q(("reprint_of__isnull", False)),
                name="order_by_reprinted_order",
            ),
        ),
        migrations.RunSQL("RESET statement_timeout; RESET lock_timeout", migrations.RunSQL.noop),
    ]
