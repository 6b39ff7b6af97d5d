import django.contrib.postgres.indexes
from django.db import migrations, models

from fulfillment.core.db.repeatable import AddIndexConcurrently


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('stores', '0027_fill_order_search'),
    ]

    operations = [
        # The service's own limits would end the build of a large index.
        migrations.RunSQL("SET statement_timeout = 0; SET lock_timeout = 0", migrations.RunSQL.noop),
        AddIndexConcurrently(
            model_name='ordersearch',
            index=django.contrib.postgres.indexes.GinIndex(models.F('words'), gin_pending_list_limit=256, name='order_search_words'),
        ),
        migrations.RunSQL("RESET statement_timeout; RESET lock_timeout", migrations.RunSQL.noop),
    ]
