from django.contrib.postgres.operations import RemoveIndexConcurrently
from django.db import migrations, models

from fulfillment.core.db.repeatable import AddIndexConcurrently


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("stores", "0031_batch_reminder")]

    operations = [
        # The service's own limits would end the build of a large index.
        migrations.RunSQL("SET statement_timeout = 0; SET lock_timeout = 0", migrations.RunSQL.noop),
        AddIndexConcurrently(
            model_name='batchrow',
            index=models.Index(models.F('batch'), models.F('state'), models.F('number'), include=('total', 'quantity'), name='batch_row_counts'),
        ),
        RemoveIndexConcurrently(model_name='batchrow', name='batch_row_by_state'),
        migrations.RunSQL("RESET statement_timeout; RESET lock_timeout", migrations.RunSQL.noop),
    ]
