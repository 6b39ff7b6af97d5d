from django.db import migrations, models

from fulfillment.core.db.repeatable import AddIndexConcurrently


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("stores", "0025_batches")]

    operations = [
        # The service's own limits would end the build of a large index.
        migrations.RunSQL("SET statement_timeout = 0; SET lock_timeout = 0", migrations.RunSQL.noop),
        AddIndexConcurrently(
            model_name='budgetentry',
            index=models.Index(models.F('reservation_id'), condition=models.Q(('reservation_id__isnull', False)), name='budget_entry_of_reservation'),
        ),
    ]
