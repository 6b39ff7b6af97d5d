import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.core.validators
import django.db.models.deletion
import django.db.models.fields.json
import django.db.models.functions.comparison
import django.db.models.functions.text
import oauth2_provider.generators
import pgtrigger.compiler
import pgtrigger.migrations
import uuid
from django.conf import settings
from django.db import migrations, models

from fulfillment.core.db.first_migrations import CreateTogether


# For the removal of what has expired; the toolkit itself indexes checksums, owners and token families only.
INDEXES = {
    "oauth_access_token_expires": "oauth2_provider_accesstoken (expires)",
    "oauth_grant_expires": "oauth2_provider_grant (expires)",
    "oauth_refresh_token_revoked": "oauth2_provider_refreshtoken (revoked) WHERE revoked IS NOT NULL",
}


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        # Before most models of ours: Django builds all of them anew when a model that users refer to changes.
        ('admin', '0003_logentry_add_action_flag_choices'),
        ('applications', '0001_applications'),
        ('oauth2_provider', '0022_refreshtoken_token_family_index'),
        ('pghistory', '0007_auto_20250421_0444'),
    ]

    operations = [
        CreateTogether([
            migrations.CreateModel(
                name='ApplicationEvent',
                fields=[
                    ('pgh_id', models.AutoField(primary_key=True, serialize=False)),
                    ('pgh_created_at', models.DateTimeField(auto_now_add=True)),
                    ('pgh_label', models.TextField(help_text='The event label.')),
                    ('client_id', models.CharField(default=oauth2_provider.generators.generate_client_id, max_length=255, verbose_name='client ID')),
                    ('redirect_uris', models.TextField(blank=True, help_text='Allowed URIs list, space separated', verbose_name='redirect URIs')),
                    ('client_type', models.CharField(choices=[('confidential', 'Confidential'), ('public', 'Public')], max_length=32, verbose_name='client type')),
                    ('name', models.CharField(blank=True, max_length=255, verbose_name='name')),
                    ('created', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                    ('updated', models.DateTimeField(auto_now=True, verbose_name='updated')),
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, serialize=False)),
                    ('description', models.TextField(blank=True, max_length=4000)),
                    ('application_url', models.CharField(blank=True, max_length=2000, validators=[django.core.validators.URLValidator(schemes=['https', 'http'])])),
                    ('is_enabled', models.BooleanField(default=True, verbose_name='enabled')),
                    ('support_url', models.CharField(blank=True, max_length=2000, validators=[django.core.validators.URLValidator(schemes=['https', 'http'])])),
                    ('support_phone', models.CharField(blank=True, max_length=50)),
                    ('support_email', models.EmailField(blank=True, max_length=254)),
                    ('implicit_flow_allowed', models.BooleanField(default=False)),
                    ('is_first_party', models.BooleanField(default=False, help_text='Part of this service: the user alone is judged, not an association of the application.', verbose_name='first-party')),
                    ('pgh_context', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='pghistory.context')),
                    ('pgh_obj', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='events', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                    ('user', models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to=settings.AUTH_USER_MODEL, verbose_name='owner')),
                ],
                options={
                    'abstract': False,
                },
            ),
            migrations.CreateModel(
                name='ApplicationIcon',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('image', models.BinaryField()),
                    ('central_image', models.BinaryField()),
                    ('sha256', models.CharField(db_index=True, max_length=64)),
                    ('reaches_outside_centre', models.BooleanField()),
                    ('updated', models.DateTimeField(auto_now=True)),
                    ('application', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='icon', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                ],
            ),
            migrations.CreateModel(
                name='ApplicationIconEvent',
                fields=[
                    ('pgh_id', models.AutoField(primary_key=True, serialize=False)),
                    ('pgh_created_at', models.DateTimeField(auto_now_add=True)),
                    ('pgh_label', models.TextField(help_text='The event label.')),
                    ('id', models.BigIntegerField()),
                    ('sha256', models.CharField(max_length=64)),
                    ('reaches_outside_centre', models.BooleanField()),
                    ('updated', models.DateTimeField(auto_now=True)),
                    ('application', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                    ('pgh_context', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='pghistory.context')),
                    ('pgh_obj', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='events', to='applications.applicationicon')),
                ],
                options={
                    'abstract': False,
                },
            ),
            migrations.CreateModel(
                name='ApplicationKey',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('start_date', models.DateTimeField()),
                    ('end_date', models.DateTimeField()),
                    ('digest', models.CharField(max_length=64, unique=True)),
                    ('ciphertext', models.BinaryField()),
                    ('created', models.DateTimeField(auto_now_add=True)),
                    ('application', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='keys', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                ],
                options={
                    'ordering': ['created'],
                    'constraints': [models.CheckConstraint(condition=models.Q(('end_date__gt', models.F('start_date'))), name='application_key_ends_after_start')],
                },
            ),
            migrations.CreateModel(
                name='ApplicationKeyEvent',
                fields=[
                    ('pgh_id', models.AutoField(primary_key=True, serialize=False)),
                    ('pgh_created_at', models.DateTimeField(auto_now_add=True)),
                    ('pgh_label', models.TextField(help_text='The event label.')),
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, serialize=False)),
                    ('start_date', models.DateTimeField()),
                    ('end_date', models.DateTimeField()),
                    ('created', models.DateTimeField(auto_now_add=True)),
                    ('application', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                    ('pgh_context', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='pghistory.context')),
                    ('pgh_obj', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='events', to='applications.applicationkey')),
                ],
                options={
                    'abstract': False,
                },
            ),
            migrations.CreateModel(
                name='OwnerInvitation',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('email', models.EmailField(max_length=254)),
                    ('digest', models.CharField(max_length=64, unique=True)),
                    ('state', models.CharField(choices=[('Pending', 'Pending'), ('Accepted', 'Accepted'), ('Declined', 'Declined'), ('Withdrawn', 'Withdrawn')], default='Pending', max_length=10)),
                    ('sent', models.DateTimeField()),
                    ('expires', models.DateTimeField()),
                    ('decided', models.DateTimeField(null=True)),
                    ('application', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='owner_invitations', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                    ('decided_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('invited_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['-sent'],
                    'indexes': [models.Index(models.F('invited_by'), models.F('sent'), name='owner_invitation_rate')],
                    'constraints': [models.UniqueConstraint(models.F('application'), django.db.models.functions.text.Lower('email'), condition=models.Q(('state', 'Pending')), name='owner_invitation_one_pending'), models.CheckConstraint(condition=models.Q(('state__in', ['Pending', 'Accepted', 'Declined', 'Withdrawn'])), name='owner_invitation_state_known'), models.CheckConstraint(condition=models.Q(('state', 'Pending'), ('decided__isnull', False), _connector='XOR'), name='owner_invitation_decided_has_date')],
                },
            ),
            migrations.CreateModel(
                name='OwnerInvitationEvent',
                fields=[
                    ('pgh_id', models.AutoField(primary_key=True, serialize=False)),
                    ('pgh_created_at', models.DateTimeField(auto_now_add=True)),
                    ('pgh_label', models.TextField(help_text='The event label.')),
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, serialize=False)),
                    ('email', models.EmailField(max_length=254)),
                    ('state', models.CharField(choices=[('Pending', 'Pending'), ('Accepted', 'Accepted'), ('Declined', 'Declined'), ('Withdrawn', 'Withdrawn')], default='Pending', max_length=10)),
                    ('sent', models.DateTimeField()),
                    ('expires', models.DateTimeField()),
                    ('decided', models.DateTimeField(null=True)),
                    ('application', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                    ('decided_by', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to=settings.AUTH_USER_MODEL)),
                    ('invited_by', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to=settings.AUTH_USER_MODEL)),
                    ('pgh_context', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='pghistory.context')),
                    ('pgh_obj', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='events', to='applications.ownerinvitation')),
                ],
                options={
                    'abstract': False,
                },
            ),
            migrations.CreateModel(
                name='DailyUsage',
                fields=[
                    ('pk', models.CompositePrimaryKey('application_id', 'day', blank=True, editable=False, primary_key=True, serialize=False)),
                    ('day', models.DateField()),
                    ('calls', models.BigIntegerField()),
                    ('client_errors', models.BigIntegerField()),
                    ('server_errors', models.BigIntegerField()),
                    ('application', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='daily_usage', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                ],
                options={
                    'indexes': [models.Index(models.F('day'), name='usage_day')],
                },
            ),
            migrations.CreateModel(
                name='UsedCode',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('digest', models.CharField(max_length=64, unique=True)),
                    ('token_family', models.UUIDField(null=True)),
                    ('access_token_checksum', models.CharField(max_length=64)),
                    ('expires', models.DateTimeField(db_index=True)),
                    ('application', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                ],
            ),
            migrations.CreateModel(
                name='Event',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('event_id', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('transaction', models.BigIntegerField(db_default=django.db.models.functions.comparison.Cast(django.db.models.functions.comparison.Cast(models.Func(function='pg_current_xact_id'), models.TextField()), models.BigIntegerField()), editable=False)),
                    ('store_id', models.CharField(blank=True, max_length=64)),
                    ('type', models.CharField(max_length=40)),
                    ('timestamp', models.DateTimeField()),
                    ('data', models.JSONField()),
                    ('application', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='told_events', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                ],
                options={
                    'ordering': ['transaction', 'id'],
                    'indexes': [models.Index(models.F('application'), models.F('transaction'), models.F('id'), name='event_of_application'), models.Index(models.F('timestamp'), name='event_age'), django.contrib.postgres.indexes.HashIndex(django.db.models.fields.json.KeyTransform('OrderID', 'data'), name='event_of_order')],
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
                    'indexes': [models.Index(models.F('deleted'), condition=models.Q(('deleted__isnull', False)), name='webhook_deleted'), models.Index(models.F('failing_since'), condition=models.Q(('failing_since__isnull', False)), name='webhook_failing')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('event_types__len__gt', 0)), name='webhook_hears_of_something'), models.CheckConstraint(condition=models.Q(('deleted__isnull', True), ('is_enabled', False), _connector='OR'), name='webhook_deleted_is_disabled')],
                },
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
                    'constraints': [models.UniqueConstraint(models.F('webhook'), condition=models.Q(('expires__isnull', True)), name='webhook_secret_one_current')],
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
            migrations.CreateModel(
                name='Delivery',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('state', models.CharField(choices=[('Pending', 'Pending'), ('Delivered', 'Delivered'), ('Failed', 'Failed')], default='Pending', max_length=9)),
                    ('tries', models.PositiveSmallIntegerField(default=0)),
                    ('next_try', models.DateTimeField(blank=True, null=True)),
                    ('created', models.DateTimeField()),
                    ('event', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='applications.event')),
                    ('webhook', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='applications.webhook')),
                ],
                options={
                    'verbose_name_plural': 'deliveries',
                    'ordering': ['-id'],
                    'indexes': [models.Index(models.F('webhook'), models.F('id'), name='delivery_log'), models.Index(models.F('webhook'), models.F('next_try'), condition=models.Q(('state', 'Pending')), name='delivery_due'), models.Index(models.F('webhook'), models.F('id'), condition=models.Q(('state', 'Failed')), name='delivery_failed')],
                    'constraints': [models.UniqueConstraint(models.F('event'), models.F('webhook'), name='delivery_once'), models.CheckConstraint(condition=models.Q(('state__in', ['Pending', 'Delivered', 'Failed'])), name='delivery_state_known'), models.CheckConstraint(condition=models.Q(('state', 'Pending'), ('next_try__isnull', True), _connector='XOR'), name='delivery_pending_has_next_try')],
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
            pgtrigger.migrations.AddTrigger(
                model_name='application',
                trigger=pgtrigger.compiler.Trigger(name='insert_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "applications_applicationevent" ("application_url", "client_id", "client_type", "created", "description", "id", "implicit_flow_allowed", "is_enabled", "is_first_party", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "redirect_uris", "support_email", "support_phone", "support_url", "updated", "user_id") VALUES (NEW."application_url", NEW."client_id", NEW."client_type", NEW."created", NEW."description", NEW."id", NEW."implicit_flow_allowed", NEW."is_enabled", NEW."is_first_party", NEW."name", _pgh_attach_context(), NOW(), \'insert\', NEW."id", NEW."redirect_uris", NEW."support_email", NEW."support_phone", NEW."support_url", NEW."updated", NEW."user_id"); RETURN NULL;', hash='c057708a1169e4540eeeb73ef54e45d7ceb56d04', operation='INSERT', pgid='pgtrigger_insert_insert_60e1b', table='applications_application', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='application',
                trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."application_url" IS DISTINCT FROM (NEW."application_url") OR OLD."client_id" IS DISTINCT FROM (NEW."client_id") OR OLD."client_type" IS DISTINCT FROM (NEW."client_type") OR OLD."created" IS DISTINCT FROM (NEW."created") OR OLD."description" IS DISTINCT FROM (NEW."description") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."implicit_flow_allowed" IS DISTINCT FROM (NEW."implicit_flow_allowed") OR OLD."is_enabled" IS DISTINCT FROM (NEW."is_enabled") OR OLD."is_first_party" IS DISTINCT FROM (NEW."is_first_party") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."redirect_uris" IS DISTINCT FROM (NEW."redirect_uris") OR OLD."support_email" IS DISTINCT FROM (NEW."support_email") OR OLD."support_phone" IS DISTINCT FROM (NEW."support_phone") OR OLD."support_url" IS DISTINCT FROM (NEW."support_url") OR OLD."updated" IS DISTINCT FROM (NEW."updated") OR OLD."user_id" IS DISTINCT FROM (NEW."user_id"))', func='INSERT INTO "applications_applicationevent" ("application_url", "client_id", "client_type", "created", "description", "id", "implicit_flow_allowed", "is_enabled", "is_first_party", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "redirect_uris", "support_email", "support_phone", "support_url", "updated", "user_id") VALUES (NEW."application_url", NEW."client_id", NEW."client_type", NEW."created", NEW."description", NEW."id", NEW."implicit_flow_allowed", NEW."is_enabled", NEW."is_first_party", NEW."name", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."redirect_uris", NEW."support_email", NEW."support_phone", NEW."support_url", NEW."updated", NEW."user_id"); RETURN NULL;', hash='72deb0d7f8e3c879f6a87e28e33aa2739a78d935', operation='UPDATE', pgid='pgtrigger_update_update_f714e', table='applications_application', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='application',
                trigger=pgtrigger.compiler.Trigger(name='delete_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "applications_applicationevent" ("application_url", "client_id", "client_type", "created", "description", "id", "implicit_flow_allowed", "is_enabled", "is_first_party", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "redirect_uris", "support_email", "support_phone", "support_url", "updated", "user_id") VALUES (OLD."application_url", OLD."client_id", OLD."client_type", OLD."created", OLD."description", OLD."id", OLD."implicit_flow_allowed", OLD."is_enabled", OLD."is_first_party", OLD."name", _pgh_attach_context(), NOW(), \'delete\', OLD."id", OLD."redirect_uris", OLD."support_email", OLD."support_phone", OLD."support_url", OLD."updated", OLD."user_id"); RETURN NULL;', hash='b4cea24454334e2ca1d545c6dfb866b42e2deba3', operation='DELETE', pgid='pgtrigger_delete_delete_9016e', table='applications_application', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='applicationevent',
                trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='630c1c333f6d410f309a87e3bbbc3af261f9a94f', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_4f572', table='applications_applicationevent', when='BEFORE')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='applicationicon',
                trigger=pgtrigger.compiler.Trigger(name='insert_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "applications_applicationiconevent" ("application_id", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reaches_outside_centre", "sha256", "updated") VALUES (NEW."application_id", NEW."id", _pgh_attach_context(), NOW(), \'insert\', NEW."id", NEW."reaches_outside_centre", NEW."sha256", NEW."updated"); RETURN NULL;', hash='44d4c7878afc3869a62404daabf635f7295b8455', operation='INSERT', pgid='pgtrigger_insert_insert_2dfcd', table='applications_applicationicon', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='applicationicon',
                trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."application_id" IS DISTINCT FROM (NEW."application_id") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."reaches_outside_centre" IS DISTINCT FROM (NEW."reaches_outside_centre") OR OLD."sha256" IS DISTINCT FROM (NEW."sha256") OR OLD."updated" IS DISTINCT FROM (NEW."updated"))', func='INSERT INTO "applications_applicationiconevent" ("application_id", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reaches_outside_centre", "sha256", "updated") VALUES (NEW."application_id", NEW."id", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."reaches_outside_centre", NEW."sha256", NEW."updated"); RETURN NULL;', hash='8c7612efb9fcbc8f77059f4ed9e56879aac41ef9', operation='UPDATE', pgid='pgtrigger_update_update_d1f59', table='applications_applicationicon', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='applicationicon',
                trigger=pgtrigger.compiler.Trigger(name='delete_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "applications_applicationiconevent" ("application_id", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reaches_outside_centre", "sha256", "updated") VALUES (OLD."application_id", OLD."id", _pgh_attach_context(), NOW(), \'delete\', OLD."id", OLD."reaches_outside_centre", OLD."sha256", OLD."updated"); RETURN NULL;', hash='cf60003afa41f8904c9eefc9230e74d32e7c2bdf', operation='DELETE', pgid='pgtrigger_delete_delete_d4b71', table='applications_applicationicon', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='applicationiconevent',
                trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='7676a2d2ea2ca0c6901e9f270b8ea63c8bfa6ba8', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_b9281', table='applications_applicationiconevent', when='BEFORE')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='applicationkey',
                trigger=pgtrigger.compiler.Trigger(name='insert_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "applications_applicationkeyevent" ("application_id", "created", "end_date", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "start_date") VALUES (NEW."application_id", NEW."created", NEW."end_date", NEW."id", _pgh_attach_context(), NOW(), \'insert\', NEW."id", NEW."start_date"); RETURN NULL;', hash='4798dcccdd072fb0c1e0987a583f3bc5a1a82591', operation='INSERT', pgid='pgtrigger_insert_insert_6465e', table='applications_applicationkey', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='applicationkey',
                trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."application_id" IS DISTINCT FROM (NEW."application_id") OR OLD."created" IS DISTINCT FROM (NEW."created") OR OLD."end_date" IS DISTINCT FROM (NEW."end_date") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."start_date" IS DISTINCT FROM (NEW."start_date"))', func='INSERT INTO "applications_applicationkeyevent" ("application_id", "created", "end_date", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "start_date") VALUES (NEW."application_id", NEW."created", NEW."end_date", NEW."id", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."start_date"); RETURN NULL;', hash='c2a169dd2d3603551c7a77a32d8e408122adfd45', operation='UPDATE', pgid='pgtrigger_update_update_50ba0', table='applications_applicationkey', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='applicationkey',
                trigger=pgtrigger.compiler.Trigger(name='delete_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "applications_applicationkeyevent" ("application_id", "created", "end_date", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "start_date") VALUES (OLD."application_id", OLD."created", OLD."end_date", OLD."id", _pgh_attach_context(), NOW(), \'delete\', OLD."id", OLD."start_date"); RETURN NULL;', hash='56cdc02bb1ff7ee3dac4192fbe9fa24525f8aabc', operation='DELETE', pgid='pgtrigger_delete_delete_169eb', table='applications_applicationkey', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='applicationkeyevent',
                trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='3d1c00d196de404398f2a65bb6fe4ee1fe8f1339', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_3982f', table='applications_applicationkeyevent', when='BEFORE')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='ownerinvitation',
                trigger=pgtrigger.compiler.Trigger(name='insert_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "applications_ownerinvitationevent" ("application_id", "decided", "decided_by_id", "email", "expires", "id", "invited_by_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "sent", "state") VALUES (NEW."application_id", NEW."decided", NEW."decided_by_id", NEW."email", NEW."expires", NEW."id", NEW."invited_by_id", _pgh_attach_context(), NOW(), \'insert\', NEW."id", NEW."sent", NEW."state"); RETURN NULL;', hash='08b39b77f17630594136c8dea5c3cfaa999edc3e', operation='INSERT', pgid='pgtrigger_insert_insert_fa0ad', table='applications_ownerinvitation', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='ownerinvitation',
                trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."application_id" IS DISTINCT FROM (NEW."application_id") OR OLD."decided" IS DISTINCT FROM (NEW."decided") OR OLD."decided_by_id" IS DISTINCT FROM (NEW."decided_by_id") OR OLD."email" IS DISTINCT FROM (NEW."email") OR OLD."expires" IS DISTINCT FROM (NEW."expires") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."invited_by_id" IS DISTINCT FROM (NEW."invited_by_id") OR OLD."sent" IS DISTINCT FROM (NEW."sent") OR OLD."state" IS DISTINCT FROM (NEW."state"))', func='INSERT INTO "applications_ownerinvitationevent" ("application_id", "decided", "decided_by_id", "email", "expires", "id", "invited_by_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "sent", "state") VALUES (NEW."application_id", NEW."decided", NEW."decided_by_id", NEW."email", NEW."expires", NEW."id", NEW."invited_by_id", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."sent", NEW."state"); RETURN NULL;', hash='75320386c82e0fed558b0c494ed20c9e9402d812', operation='UPDATE', pgid='pgtrigger_update_update_dcea8', table='applications_ownerinvitation', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='ownerinvitation',
                trigger=pgtrigger.compiler.Trigger(name='delete_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "applications_ownerinvitationevent" ("application_id", "decided", "decided_by_id", "email", "expires", "id", "invited_by_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "sent", "state") VALUES (OLD."application_id", OLD."decided", OLD."decided_by_id", OLD."email", OLD."expires", OLD."id", OLD."invited_by_id", _pgh_attach_context(), NOW(), \'delete\', OLD."id", OLD."sent", OLD."state"); RETURN NULL;', hash='3db448a8dc1b88e2ed7af10fc89345ab5f186ce3', operation='DELETE', pgid='pgtrigger_delete_delete_dfe30', table='applications_ownerinvitation', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='ownerinvitationevent',
                trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='cc026e5ac9f5c6f80484f4a06a70cc24e72c9a87', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_5c9ea', table='applications_ownerinvitationevent', when='BEFORE')),
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
            pgtrigger.migrations.AddTrigger(
                model_name='webhookevent',
                trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='5ad8cef568db1c64cbf5d9075cc26976ad8e06f3', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_d8e52', table='applications_webhookevent', when='BEFORE')),
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
        ]),
        *(migrations.RunSQL(f"CREATE INDEX {name} ON {columns}", f"DROP INDEX {name}") for name, columns in INDEXES.items()),
    ]
