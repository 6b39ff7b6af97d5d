import django.contrib.postgres.fields
import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('pghistory', '0007_auto_20250421_0444'),
        ('stores', '0018_budgets'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ApprovalRequest',
            fields=[
                ('order', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='approval_request', serialize=False, to='stores.order')),
                ('reasons', models.JSONField()),
                ('ordered_by', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), size=None)),
                ('requested', models.DateTimeField()),
                ('expires', models.DateTimeField()),
                ('reminder_due', models.DateTimeField(null=True)),
                ('decided', models.DateTimeField(null=True)),
                ('note', models.TextField(blank=True, max_length=1000)),
            ],
            options={
                'verbose_name': 'approval',
                'ordering': ['expires'],
            },
        ),
        migrations.CreateModel(
            name='ApprovalRequestEvent',
            fields=[
                ('pgh_id', models.AutoField(primary_key=True, serialize=False)),
                ('pgh_created_at', models.DateTimeField(auto_now_add=True)),
                ('pgh_label', models.TextField(help_text='The event label.')),
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
        pgtrigger.migrations.RemoveTrigger(
            model_name='store',
            name='insert_insert',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='store',
            name='update_update',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='store',
            name='delete_delete',
        ),
        migrations.AddField(
            model_name='order',
            name='approval',
            field=models.CharField(blank=True, choices=[('', 'Not needed'), ('Pending', 'Pending'), ('Approved', 'Approved'), ('Denied', 'Denied'), ('Expired', 'Expired')], db_default='', default='', editable=False, max_length=8),
        ),
        migrations.AddField(
            model_name='store',
            name='approval_above',
            field=models.DecimalField(blank=True, decimal_places=2, max_digits=14, null=True),
        ),
        migrations.AddField(
            model_name='store',
            name='approval_hours',
            field=models.PositiveIntegerField(db_default=72, default=72),
        ),
        migrations.AddField(
            model_name='storeevent',
            name='approval_above',
            field=models.DecimalField(blank=True, decimal_places=2, max_digits=14, null=True),
        ),
        migrations.AddField(
            model_name='storeevent',
            name='approval_hours',
            field=models.PositiveIntegerField(db_default=72, default=72),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='store',
            trigger=pgtrigger.compiler.Trigger(name='insert_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "stores_storeevent" ("admits_test_applications", "approval_above", "approval_hours", "budget_durations", "budget_enabled", "budget_types", "company_name", "created", "currency", "description", "external_id", "hold_window_minutes", "id", "is_demo", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "time_zone", "updated") VALUES (NEW."admits_test_applications", NEW."approval_above", NEW."approval_hours", NEW."budget_durations", NEW."budget_enabled", NEW."budget_types", NEW."company_name", NEW."created", NEW."currency", NEW."description", NEW."external_id", NEW."hold_window_minutes", NEW."id", NEW."is_demo", _pgh_attach_context(), NOW(), \'insert\', NEW."id", NEW."time_zone", NEW."updated"); RETURN NULL;', hash='11578d16c33f9414d1e4257b4b07813b42391f80', operation='INSERT', pgid='pgtrigger_insert_insert_d3210', table='stores_store', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='store',
            trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."admits_test_applications" IS DISTINCT FROM (NEW."admits_test_applications") OR OLD."approval_above" IS DISTINCT FROM (NEW."approval_above") OR OLD."approval_hours" IS DISTINCT FROM (NEW."approval_hours") OR OLD."budget_durations" IS DISTINCT FROM (NEW."budget_durations") OR OLD."budget_enabled" IS DISTINCT FROM (NEW."budget_enabled") OR OLD."budget_types" IS DISTINCT FROM (NEW."budget_types") OR OLD."company_name" IS DISTINCT FROM (NEW."company_name") OR OLD."created" IS DISTINCT FROM (NEW."created") OR OLD."currency" IS DISTINCT FROM (NEW."currency") OR OLD."description" IS DISTINCT FROM (NEW."description") OR OLD."external_id" IS DISTINCT FROM (NEW."external_id") OR OLD."hold_window_minutes" IS DISTINCT FROM (NEW."hold_window_minutes") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."is_demo" IS DISTINCT FROM (NEW."is_demo") OR OLD."time_zone" IS DISTINCT FROM (NEW."time_zone") OR OLD."updated" IS DISTINCT FROM (NEW."updated"))', func='INSERT INTO "stores_storeevent" ("admits_test_applications", "approval_above", "approval_hours", "budget_durations", "budget_enabled", "budget_types", "company_name", "created", "currency", "description", "external_id", "hold_window_minutes", "id", "is_demo", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "time_zone", "updated") VALUES (NEW."admits_test_applications", NEW."approval_above", NEW."approval_hours", NEW."budget_durations", NEW."budget_enabled", NEW."budget_types", NEW."company_name", NEW."created", NEW."currency", NEW."description", NEW."external_id", NEW."hold_window_minutes", NEW."id", NEW."is_demo", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."time_zone", NEW."updated"); RETURN NULL;', hash='7c9098af25a272c8a8ae9036ea9d52c28654373c', operation='UPDATE', pgid='pgtrigger_update_update_33f7b', table='stores_store', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='store',
            trigger=pgtrigger.compiler.Trigger(name='delete_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "stores_storeevent" ("admits_test_applications", "approval_above", "approval_hours", "budget_durations", "budget_enabled", "budget_types", "company_name", "created", "currency", "description", "external_id", "hold_window_minutes", "id", "is_demo", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "time_zone", "updated") VALUES (OLD."admits_test_applications", OLD."approval_above", OLD."approval_hours", OLD."budget_durations", OLD."budget_enabled", OLD."budget_types", OLD."company_name", OLD."created", OLD."currency", OLD."description", OLD."external_id", OLD."hold_window_minutes", OLD."id", OLD."is_demo", _pgh_attach_context(), NOW(), \'delete\', OLD."id", OLD."time_zone", OLD."updated"); RETURN NULL;', hash='6b08660d2549ebbf48786a7f8db707c0cf083953', operation='DELETE', pgid='pgtrigger_delete_delete_b25a4', table='stores_store', when='AFTER')),
        ),
        migrations.AddField(
            model_name='approvalrequest',
            name='decided_by',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='approvalrequestevent',
            name='decided_by',
            field=models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='approvalrequestevent',
            name='order',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', serialize=False, to='stores.order'),
        ),
        migrations.AddField(
            model_name='approvalrequestevent',
            name='pgh_context',
            field=models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='pghistory.context'),
        ),
        migrations.AddField(
            model_name='approvalrequestevent',
            name='pgh_obj',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='events', to='stores.approvalrequest'),
        ),
        migrations.AddIndex(
            model_name='approvalrequest',
            index=models.Index(models.F('expires'), condition=models.Q(('decided__isnull', True)), name='approval_request_pending'),
        ),
        migrations.AddIndex(
            model_name='approvalrequest',
            index=models.Index(models.F('reminder_due'), condition=models.Q(('reminder_due__isnull', False)), name='approval_request_reminder'),
        ),
        migrations.AddIndex(
            model_name='approvalrequest',
            index=models.Index(models.F('decided_by'), condition=models.Q(('decided_by__isnull', False)), name='approval_request_decided_by'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='approvalrequest',
            trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."decided" IS DISTINCT FROM (NEW."decided") OR OLD."decided_by_id" IS DISTINCT FROM (NEW."decided_by_id") OR OLD."expires" IS DISTINCT FROM (NEW."expires") OR OLD."order_id" IS DISTINCT FROM (NEW."order_id") OR OLD."ordered_by" IS DISTINCT FROM (NEW."ordered_by") OR OLD."reminder_due" IS DISTINCT FROM (NEW."reminder_due") OR OLD."requested" IS DISTINCT FROM (NEW."requested"))', func='INSERT INTO "stores_approvalrequestevent" ("decided", "decided_by_id", "expires", "order_id", "ordered_by", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reminder_due", "requested") VALUES (NEW."decided", NEW."decided_by_id", NEW."expires", NEW."order_id", NEW."ordered_by", _pgh_attach_context(), NOW(), \'update\', NEW."order_id", NEW."reminder_due", NEW."requested"); RETURN NULL;', hash='35529e87c202d4772c5303c630e5e71747fe3235', operation='UPDATE', pgid='pgtrigger_update_update_78842', table='stores_approvalrequest', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='approvalrequestevent',
            trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='d274001e8233c35ff2d5a4dfa2380adb9ed3e7a6', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_a6f2c', table='stores_approvalrequestevent', when='BEFORE')),
        ),
    ]
