from django.contrib.postgres.indexes import GistIndex
from django.db import migrations

from fulfillment.core.db.repeatable import AddIndexConcurrently


class Migration(migrations.Migration):
    """Finds the areas that meet a rectangle."""

    atomic = False
    dependencies = [("delivery", "0003_route_areas")]

    operations = [
        # The service's own limits would end the build of a large index.
        migrations.RunSQL("SET statement_timeout = 0; SET lock_timeout = 0", migrations.RunSQL.noop),
        AddIndexConcurrently("area", GistIndex(fields=["box"], name="area_box")),
        migrations.RunSQL("RESET statement_timeout; RESET lock_timeout", migrations.RunSQL.noop),
    ]
