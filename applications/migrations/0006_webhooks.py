import django.contrib.postgres.fields
import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('applications', '0005_usage'),
        ('pghistory', '0007_auto_20250421_0444'),
    ]

    operations = [
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('Pending', 'Pending'), ('Delivered', 'Delivered'), ('Failed', 'Failed')], default='Pending', max_length=9)),
                ('tries', models.PositiveSmallIntegerField(default=0)),
                ('next_try', models.DateTimeField(blank=True, null=True)),
                ('created', models.DateTimeField()),
                ('event', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='applications.event')),
            ],
            options={
                'verbose_name_plural': 'deliveries',
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='DeliveryAttempt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('timestamp', models.DateTimeField()),
                ('milliseconds', models.PositiveIntegerField()),
                ('status_code', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('error', models.CharField(blank=True, max_length=300)),
                ('body', models.TextField(blank=True)),
                ('delivery', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='attempts', to='applications.delivery')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='Webhook',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('url', models.CharField(max_length=2000, verbose_name='URL')),
                ('event_types', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), size=None, verbose_name='event types')),
                ('store_ids', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=64), blank=True, default=list, size=None, verbose_name='store IDs')),
                ('is_enabled', models.BooleanField(default=True, verbose_name='enabled')),
                ('disabled_reason', models.CharField(blank=True, max_length=300)),
                ('failing_since', models.DateTimeField(blank=True, null=True)),
                ('warned', models.DateTimeField(blank=True, null=True)),
                ('deleted', models.DateTimeField(blank=True, editable=False, null=True)),
                ('created', models.DateTimeField(auto_now_add=True)),
                ('updated', models.DateTimeField(auto_now=True)),
                ('application', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='webhooks', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
            ],
            options={
                'ordering': ['created'],
            },
        ),
        migrations.AddField(
            model_name='delivery',
            name='webhook',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='applications.webhook'),
        ),
        migrations.CreateModel(
            name='WebhookEvent',
            fields=[
                ('pgh_id', models.AutoField(primary_key=True, serialize=False)),
                ('pgh_created_at', models.DateTimeField(auto_now_add=True)),
                ('pgh_label', models.TextField(help_text='The event label.')),
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, serialize=False)),
                ('url', models.CharField(max_length=2000, verbose_name='URL')),
                ('event_types', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), size=None, verbose_name='event types')),
                ('store_ids', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=64), blank=True, default=list, size=None, verbose_name='store IDs')),
                ('is_enabled', models.BooleanField(default=True, verbose_name='enabled')),
                ('disabled_reason', models.CharField(blank=True, max_length=300)),
                ('deleted', models.DateTimeField(blank=True, editable=False, null=True)),
                ('created', models.DateTimeField(auto_now_add=True)),
                ('updated', models.DateTimeField(auto_now=True)),
                ('application', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                ('pgh_context', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='pghistory.context')),
                ('pgh_obj', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='events', to='applications.webhook')),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='WebhookSecret',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('ciphertext', models.BinaryField()),
                ('created', models.DateTimeField(auto_now_add=True)),
                ('expires', models.DateTimeField(blank=True, null=True)),
                ('webhook', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='secrets', to='applications.webhook')),
            ],
            options={
                'ordering': ['-created'],
            },
        ),
        migrations.CreateModel(
            name='WebhookSecretEvent',
            fields=[
                ('pgh_id', models.AutoField(primary_key=True, serialize=False)),
                ('pgh_created_at', models.DateTimeField(auto_now_add=True)),
                ('pgh_label', models.TextField(help_text='The event label.')),
                ('id', models.BigIntegerField()),
                ('created', models.DateTimeField(auto_now_add=True)),
                ('expires', models.DateTimeField(blank=True, null=True)),
                ('pgh_context', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='pghistory.context')),
                ('pgh_obj', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='events', to='applications.webhooksecret')),
                ('webhook', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to='applications.webhook')),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.AddIndex(
            model_name='webhook',
            index=models.Index(models.F('deleted'), condition=models.Q(('deleted__isnull', False)), name='webhook_deleted'),
        ),
        migrations.AddIndex(
            model_name='webhook',
            index=models.Index(models.F('failing_since'), condition=models.Q(('failing_since__isnull', False)), name='webhook_failing'),
        ),
        migrations.AddConstraint(
            model_name='webhook',
            constraint=models.CheckConstraint(condition=models.Q(('event_types__len__gt', 0)), name='webhook_hears_of_something'),
        ),
        migrations.AddConstraint(
            model_name='webhook',
            constraint=models.CheckConstraint(condition=models.Q(('deleted__isnull', True), ('is_enabled', False), _connector='OR'), name='webhook_deleted_is_disabled'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='webhook',
            trigger=pgtrigger.compiler.Trigger(name='insert_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "applications_webhookevent" ("application_id", "created", "deleted", "disabled_reason", "event_types", "id", "is_enabled", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "store_ids", "updated", "url") VALUES (NEW."application_id", NEW."created", NEW."deleted", NEW."disabled_reason", NEW."event_types", NEW."id", NEW."is_enabled", _pgh_attach_context(), NOW(), \'insert\', NEW."id", NEW."store_ids", NEW."updated", NEW."url"); RETURN NULL;', hash='ee62856c28c770e7069265bd5b99c3f12131ce7b', operation='INSERT', pgid='pgtrigger_insert_insert_55f3b', table='applications_webhook', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='webhook',
            trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."application_id" IS DISTINCT FROM (NEW."application_id") OR OLD."created" IS DISTINCT FROM (NEW."created") OR OLD."deleted" IS DISTINCT FROM (NEW."deleted") OR OLD."disabled_reason" IS DISTINCT FROM (NEW."disabled_reason") OR OLD."event_types" IS DISTINCT FROM (NEW."event_types") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."is_enabled" IS DISTINCT FROM (NEW."is_enabled") OR OLD."store_ids" IS DISTINCT FROM (NEW."store_ids") OR OLD."updated" IS DISTINCT FROM (NEW."updated") OR OLD."url" IS DISTINCT FROM (NEW."url"))', func='INSERT INTO "applications_webhookevent" ("application_id", "created", "deleted", "disabled_reason", "event_types", "id", "is_enabled", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "store_ids", "updated", "url") VALUES (NEW."application_id", NEW."created", NEW."deleted", NEW."disabled_reason", NEW."event_types", NEW."id", NEW."is_enabled", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."store_ids", NEW."updated", NEW."url"); RETURN NULL;', hash='82993b3d533cf8939884fdfd7cee097b3455116a', operation='UPDATE', pgid='pgtrigger_update_update_3528c', table='applications_webhook', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='webhook',
            trigger=pgtrigger.compiler.Trigger(name='delete_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "applications_webhookevent" ("application_id", "created", "deleted", "disabled_reason", "event_types", "id", "is_enabled", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "store_ids", "updated", "url") VALUES (OLD."application_id", OLD."created", OLD."deleted", OLD."disabled_reason", OLD."event_types", OLD."id", OLD."is_enabled", _pgh_attach_context(), NOW(), \'delete\', OLD."id", OLD."store_ids", OLD."updated", OLD."url"); RETURN NULL;', hash='5d6c851c9d582db466b200fc6209d00a6303d4d0', operation='DELETE', pgid='pgtrigger_delete_delete_e2a8f', table='applications_webhook', when='AFTER')),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(models.F('webhook'), models.F('id'), name='delivery_log'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(models.F('webhook'), models.F('next_try'), condition=models.Q(('state', 'Pending')), name='delivery_due'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(models.F('webhook'), models.F('id'), condition=models.Q(('state', 'Failed')), name='delivery_failed'),
        ),
        migrations.AddConstraint(
            model_name='delivery',
            constraint=models.UniqueConstraint(models.F('event'), models.F('webhook'), name='delivery_once'),
        ),
        migrations.AddConstraint(
            model_name='delivery',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['Pending', 'Delivered', 'Failed'])), name='delivery_state_known'),
        ),
        migrations.AddConstraint(
            model_name='delivery',
            constraint=models.CheckConstraint(condition=models.Q(('state', 'Pending'), ('next_try__isnull', True), _connector='XOR'), name='delivery_pending_has_next_try'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='webhookevent',
            trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='5ad8cef568db1c64cbf5d9075cc26976ad8e06f3', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_d8e52', table='applications_webhookevent', when='BEFORE')),
        ),
        migrations.AddConstraint(
            model_name='webhooksecret',
            constraint=models.UniqueConstraint(models.F('webhook'), condition=models.Q(('expires__isnull', True)), name='webhook_secret_one_current'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='webhooksecret',
            trigger=pgtrigger.compiler.Trigger(name='insert_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "applications_webhooksecretevent" ("created", "expires", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "webhook_id") VALUES (NEW."created", NEW."expires", NEW."id", _pgh_attach_context(), NOW(), \'insert\', NEW."id", NEW."webhook_id"); RETURN NULL;', hash='38d9a33f3625e23db5c95a37345c3c30eeb354ca', operation='INSERT', pgid='pgtrigger_insert_insert_d2400', table='applications_webhooksecret', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='webhooksecret',
            trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."created" IS DISTINCT FROM (NEW."created") OR OLD."expires" IS DISTINCT FROM (NEW."expires") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."webhook_id" IS DISTINCT FROM (NEW."webhook_id"))', func='INSERT INTO "applications_webhooksecretevent" ("created", "expires", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "webhook_id") VALUES (NEW."created", NEW."expires", NEW."id", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."webhook_id"); RETURN NULL;', hash='200d2e2ed3132365f885259b64f91980bef209e7', operation='UPDATE', pgid='pgtrigger_update_update_ca537', table='applications_webhooksecret', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='webhooksecret',
            trigger=pgtrigger.compiler.Trigger(name='delete_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "applications_webhooksecretevent" ("created", "expires", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "webhook_id") VALUES (OLD."created", OLD."expires", OLD."id", _pgh_attach_context(), NOW(), \'delete\', OLD."id", OLD."webhook_id"); RETURN NULL;', hash='f535885b5b7dfde37c58412f321033436b9c6fa6', operation='DELETE', pgid='pgtrigger_delete_delete_6b854', table='applications_webhooksecret', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='webhooksecretevent',
            trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='bedff83c28aaf1d51ac30a49bf50d598befeb80f', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_43fba', table='applications_webhooksecretevent', when='BEFORE')),
        ),
    ]
