import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

from fulfillment.core.db.first_migrations import CreateTogether


class Migration(migrations.Migration):
    """Columns with a default of the database, and positions below zero, which test orders have."""

    dependencies = [
        ('stores', '0006_order_list_indexes'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        migrations.swappable_dependency(settings.OAUTH2_PROVIDER_APPLICATION_MODEL),
    ]

    operations = [
        CreateTogether([
            migrations.CreateModel(
                name='OrderStory',
                fields=[
                    ('order', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='story', serialize=False, to='stores.order')),
                    ('outcome', models.CharField(choices=[('Rejected', 'Rejected'), ('OnHold', 'On Hold'), ('PartiallyShipped', 'Partially Shipped'), ('Returned', 'Returned'), ('CancelRefused', 'Cancel Refused'), ('Delivered', 'Delivered')], max_length=16)),
                    ('due', models.DateTimeField(null=True)),
                ],
                options={
                    'verbose_name_plural': 'order stories',
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
                model_name='asset',
                name='is_test',
                field=models.BooleanField(db_default=False, default=False, editable=False),
            ),
            migrations.AddField(
                model_name='order',
                name='is_test',
                field=models.BooleanField(db_default=False, default=False, editable=False, verbose_name='test order'),
            ),
            migrations.AddField(
                model_name='proof',
                name='is_test',
                field=models.BooleanField(db_default=False, default=False, editable=False),
            ),
            migrations.AddField(
                model_name='quote',
                name='is_test',
                field=models.BooleanField(db_default=False, default=False, editable=False),
            ),
            migrations.AddField(
                model_name='store',
                name='admits_test_applications',
                field=models.BooleanField(db_default=False, default=False, help_text='Approve what test applications ask for at once. Their orders are never produced.', verbose_name='test applications'),
            ),
            migrations.AddField(
                model_name='storeevent',
                name='admits_test_applications',
                field=models.BooleanField(db_default=False, default=False, help_text='Approve what test applications ask for at once. Their orders are never produced.', verbose_name='test applications'),
            ),
            migrations.AlterField(
                model_name='order',
                name='position',
                field=models.IntegerField(editable=False),
            ),
            migrations.AlterField(
                model_name='orderevent',
                name='position',
                field=models.IntegerField(editable=False),
            ),
            migrations.AlterField(
                model_name='orderitem',
                name='order_position',
                field=models.IntegerField(editable=False),
            ),
            migrations.AlterField(
                model_name='orderitemevent',
                name='order_position',
                field=models.IntegerField(editable=False),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='store',
                trigger=pgtrigger.compiler.Trigger(name='insert_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "stores_storeevent" ("admits_test_applications", "budget_durations", "budget_enabled", "budget_types", "company_name", "created", "currency", "description", "external_id", "hold_window_minutes", "id", "is_demo", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "time_zone", "updated") VALUES (NEW."admits_test_applications", NEW."budget_durations", NEW."budget_enabled", NEW."budget_types", NEW."company_name", NEW."created", NEW."currency", NEW."description", NEW."external_id", NEW."hold_window_minutes", NEW."id", NEW."is_demo", _pgh_attach_context(), NOW(), \'insert\', NEW."id", NEW."time_zone", NEW."updated"); RETURN NULL;', hash='040a39fc5d98a0caf450d69ff7b93c430c5a9a21', operation='INSERT', pgid='pgtrigger_insert_insert_d3210', table='stores_store', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='store',
                trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."admits_test_applications" IS DISTINCT FROM (NEW."admits_test_applications") OR OLD."budget_durations" IS DISTINCT FROM (NEW."budget_durations") OR OLD."budget_enabled" IS DISTINCT FROM (NEW."budget_enabled") OR OLD."budget_types" IS DISTINCT FROM (NEW."budget_types") OR OLD."company_name" IS DISTINCT FROM (NEW."company_name") OR OLD."created" IS DISTINCT FROM (NEW."created") OR OLD."currency" IS DISTINCT FROM (NEW."currency") OR OLD."description" IS DISTINCT FROM (NEW."description") OR OLD."external_id" IS DISTINCT FROM (NEW."external_id") OR OLD."hold_window_minutes" IS DISTINCT FROM (NEW."hold_window_minutes") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."is_demo" IS DISTINCT FROM (NEW."is_demo") OR OLD."time_zone" IS DISTINCT FROM (NEW."time_zone") OR OLD."updated" IS DISTINCT FROM (NEW."updated"))', func='INSERT INTO "stores_storeevent" ("admits_test_applications", "budget_durations", "budget_enabled", "budget_types", "company_name", "created", "currency", "description", "external_id", "hold_window_minutes", "id", "is_demo", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "time_zone", "updated") VALUES (NEW."admits_test_applications", NEW."budget_durations", NEW."budget_enabled", NEW."budget_types", NEW."company_name", NEW."created", NEW."currency", NEW."description", NEW."external_id", NEW."hold_window_minutes", NEW."id", NEW."is_demo", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."time_zone", NEW."updated"); RETURN NULL;', hash='6d1de6c24dbeaad1b338db27d1af17b829be6990', operation='UPDATE', pgid='pgtrigger_update_update_33f7b', table='stores_store', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='store',
                trigger=pgtrigger.compiler.Trigger(name='delete_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "stores_storeevent" ("admits_test_applications", "budget_durations", "budget_enabled", "budget_types", "company_name", "created", "currency", "description", "external_id", "hold_window_minutes", "id", "is_demo", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "time_zone", "updated") VALUES (OLD."admits_test_applications", OLD."budget_durations", OLD."budget_enabled", OLD."budget_types", OLD."company_name", OLD."created", OLD."currency", OLD."description", OLD."external_id", OLD."hold_window_minutes", OLD."id", OLD."is_demo", _pgh_attach_context(), NOW(), \'delete\', OLD."id", OLD."time_zone", OLD."updated"); RETURN NULL;', hash='ca221f2bf8c70e612d21dd1caa7f641fc00c3821', operation='DELETE', pgid='pgtrigger_delete_delete_b25a4', table='stores_store', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='order',
                trigger=pgtrigger.compiler.Trigger(name='keep_mode', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."is_test" IS DISTINCT FROM (NEW."is_test"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='1a8abd49ae44cdbd0a9bb91d7621bb06361d79ab', operation='UPDATE', pgid='pgtrigger_keep_mode_bb4f0', table='stores_order', when='BEFORE')),
            ),
            migrations.AddIndex(
                model_name='orderstory',
                index=models.Index(models.F('due'), condition=models.Q(('due__isnull', False)), name='order_story_due'),
            ),
        ]),
    ]
