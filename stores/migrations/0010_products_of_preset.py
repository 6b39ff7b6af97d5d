from django.db import migrations, models

from fulfillment.core.db.repeatable import AddIndexConcurrently


class Migration(migrations.Migration):
    """Built while products go on being written."""

    atomic = False
    dependencies = [("stores", "0009_print_presets")]

    operations = [
        # The service's own limits would end the build of a large index.
        migrations.RunSQL("SET statement_timeout = 0; SET lock_timeout = 0", migrations.RunSQL.noop),
        AddIndexConcurrently(
            "product",
            models.Index(
                models.F("preset"), condition=models.Q(("preset__isnull", False)), name="product_of_preset"
            ),
        ),
        migrations.RunSQL("RESET statement_timeout; RESET lock_timeout", migrations.RunSQL.noop),
    ]
