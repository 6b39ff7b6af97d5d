from django.db import migrations, models

from fulfillment.core.db.repeatable import AddIndexConcurrently


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('stores', '0023_artwork'),
    ]

    operations = [
        # The service's own limits would end the build of a large index.
        migrations.RunSQL("SET statement_timeout = 0; SET lock_timeout = 0", migrations.RunSQL.noop),
        AddIndexConcurrently(
            model_name='asset',
            index=models.Index(models.F('application'), models.F('user'), condition=models.Q(('format', 'pdf')), name='asset_pdf_of_caller'),
        ),
        AddIndexConcurrently(
            model_name='asset',
            index=models.Index(models.F('sha256'), condition=models.Q(('format', 'pdf')), name='asset_pdf_by_content'),
        ),
    ]
