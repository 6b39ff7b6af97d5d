"""The audit trail of decisions on batches."""

import django.contrib.postgres.fields
import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('pghistory', '0007_auto_20250421_0444'),
        ('stores', '0038_reword_help_texts'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='BatchApprovalEvent',
            fields=[
                ('pgh_id', models.AutoField(primary_key=True, serialize=False)),
                ('pgh_created_at', models.DateTimeField(auto_now_add=True)),
                ('pgh_label', models.TextField(help_text='The event label.')),
                ('state', models.CharField(choices=[('', 'Not needed'), ('Pending', 'Pending'), ('Approved', 'Approved'), ('Denied', 'Denied'), ('Expired', 'Expired')], max_length=8)),
                ('ordered_by', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), size=None)),
                ('requested', models.DateTimeField()),
                ('expires', models.DateTimeField()),
                ('reminder_due', models.DateTimeField(null=True)),
                ('decided', models.DateTimeField(null=True)),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.AddField(
            model_name='batchapprovalevent',
            name='batch',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', serialize=False, to='stores.batch'),
        ),
        migrations.AddField(
            model_name='batchapprovalevent',
            name='decided_by',
            field=models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='batchapprovalevent',
            name='pgh_context',
            field=models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='pghistory.context'),
        ),
        migrations.AddField(
            model_name='batchapprovalevent',
            name='pgh_obj',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='events', to='stores.batchapproval'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='batchapproval',
            trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."batch_id" IS DISTINCT FROM (NEW."batch_id") OR OLD."decided" IS DISTINCT FROM (NEW."decided") OR OLD."decided_by_id" IS DISTINCT FROM (NEW."decided_by_id") OR OLD."expires" IS DISTINCT FROM (NEW."expires") OR OLD."ordered_by" IS DISTINCT FROM (NEW."ordered_by") OR OLD."reminder_due" IS DISTINCT FROM (NEW."reminder_due") OR OLD."requested" IS DISTINCT FROM (NEW."requested") OR OLD."state" IS DISTINCT FROM (NEW."state"))', func='INSERT INTO "stores_batchapprovalevent" ("batch_id", "decided", "decided_by_id", "expires", "ordered_by", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reminder_due", "requested", "state") VALUES (NEW."batch_id", NEW."decided", NEW."decided_by_id", NEW."expires", NEW."ordered_by", _pgh_attach_context(), NOW(), \'update\', NEW."batch_id", NEW."reminder_due", NEW."requested", NEW."state"); RETURN NULL;', hash='91d74ba726e41b579ff0ebcb3094af63a980703b', operation='UPDATE', pgid='pgtrigger_update_update_09260', table='stores_batchapproval', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='batchapprovalevent',
            trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='f3ac9bafed29ce54aa446ebc9ca9a0f946d486e6', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_ad4ca', table='stores_batchapprovalevent', when='BEFORE')),
        ),
    ]
