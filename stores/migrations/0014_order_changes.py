from django.contrib.postgres.indexes import GistIndex
from django.db import migrations, models

from fulfillment.core.db.repeatable import AddIndexConcurrently


class ChangePoint(models.Func):
    template = (
        "point(store_id * 2147483648.0::float8 + position, "
        "date_part('epoch', updated - '2000-01-01 00:00:00+00'::timestamptz) / 1e11::float8)"
    )


class Migration(migrations.Migration):
    """For `updatedAfter` of the export view beside other filters, built while orders go on coming in."""

    atomic = False
    dependencies = [("stores", "0013_store_usage")]

    operations = [
        # The service's own limits would end the build of a large index.
        migrations.RunSQL("SET statement_timeout = 0; SET lock_timeout = 0", migrations.RunSQL.noop),
        AddIndexConcurrently(
            "order",
            GistIndex(
                ChangePoint(),
                condition=models.Q(("position__gt", 0)),
                name="order_by_change",
            ),
        ),
        migrations.RunSQL("RESET statement_timeout; RESET lock_timeout", migrations.RunSQL.noop),
    ]
