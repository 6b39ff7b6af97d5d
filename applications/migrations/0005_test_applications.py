import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

from fulfillment.core.db.first_migrations import CreateTogether


class Migration(migrations.Migration):
    """Which applications are for tests, and that none changes sides."""

    dependencies = [
        ('applications', '0004_request_log'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        CreateTogether([
            migrations.AddField(
                model_name='application',
                name='is_test',
                field=models.BooleanField(db_default=False, default=False, editable=False, help_text='Everything made with its credentials is test data. Chosen at registration, for ever.', verbose_name='test application'),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='application',
                trigger=pgtrigger.compiler.Trigger(name='keep_mode', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."is_test" IS DISTINCT FROM (NEW."is_test"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='26d2cd142eba0e68e33dc245b7959bb3f0868dd2', operation='UPDATE', pgid='pgtrigger_keep_mode_6b2ef', table='applications_application', when='BEFORE')),
            ),
            migrations.AddConstraint(
                model_name='application',
                constraint=models.CheckConstraint(condition=models.Q(('is_test', False), ('is_first_party', False), _connector='OR'), name='application_test_is_not_ours'),
            ),
        ]),
    ]
