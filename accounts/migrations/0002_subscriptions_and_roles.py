import accounts.names
import django.contrib.postgres.fields
import django.core.validators
import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
import uuid
from django.conf import settings
from django.db import migrations, models

from fulfillment.core.db.first_migrations import CreateTogether


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('accounts', '0001_users'),
        ('applications', '0002_keys_and_webhooks'),
        ('pghistory', '0007_auto_20250421_0444'),
        ('stores', '0001_stores_and_orders'),
    ]

    operations = [
        CreateTogether([
            migrations.CreateModel(
                name='AssociationRequest',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('grants', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('Application.All.Read', 'Application.All.Read'), ('Application.Self.Read', 'Application.Self.Read'), ('Application.All.Write', 'Application.All.Write'), ('Application.Self.Write', 'Application.Self.Write'), ('Store.All.Read', 'Store.All.Read'), ('Store.Self.Read', 'Store.Self.Read'), ('Order.All.Read', 'Order.All.Read'), ('Order.Self.Read', 'Order.Self.Read'), ('Order.All.Write', 'Order.All.Write'), ('Order.Self.Write', 'Order.Self.Write')], max_length=32), blank=True, default=list, size=None)),
                    ('message', models.TextField(blank=True, max_length=2000)),
                    ('state', models.CharField(choices=[('Pending', 'Pending'), ('Approved', 'Approved'), ('Denied', 'Denied'), ('Withdrawn', 'Withdrawn')], default='Pending', max_length=10)),
                    ('decided', models.DateTimeField(blank=True, null=True)),
                    ('note', models.TextField(blank=True, max_length=2000)),
                    ('created', models.DateTimeField(auto_now_add=True)),
                    ('updated', models.DateTimeField(auto_now=True)),
                    ('application', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='association_requests', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                    ('decided_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('requested_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('store', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='association_requests', to='stores.store')),
                    ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='association_requests', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['-created'],
                    'indexes': [models.Index(models.F('state'), models.F('created'), name='association_request_inbox')],
                    'constraints': [models.UniqueConstraint(models.F('application'), models.F('store'), models.F('user'), condition=models.Q(('state', 'Pending')), name='association_request_one_pending', nulls_distinct=False), models.CheckConstraint(condition=models.Q(('store__isnull', True), ('user__isnull', True), _connector='XOR'), name='association_request_one_kind'), models.CheckConstraint(condition=models.Q(('state__in', ['Pending', 'Approved', 'Denied', 'Withdrawn'])), name='association_request_state_known'), models.CheckConstraint(condition=models.Q(('state', 'Pending'), ('decided__isnull', False), _connector='XOR'), name='association_request_decided_has_date')],
                },
            ),
            migrations.CreateModel(
                name='AssociationRequestEvent',
                fields=[
                    ('pgh_id', models.AutoField(primary_key=True, serialize=False)),
                    ('pgh_created_at', models.DateTimeField(auto_now_add=True)),
                    ('pgh_label', models.TextField(help_text='The event label.')),
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, serialize=False)),
                    ('grants', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('Application.All.Read', 'Application.All.Read'), ('Application.Self.Read', 'Application.Self.Read'), ('Application.All.Write', 'Application.All.Write'), ('Application.Self.Write', 'Application.Self.Write'), ('Store.All.Read', 'Store.All.Read'), ('Store.Self.Read', 'Store.Self.Read'), ('Order.All.Read', 'Order.All.Read'), ('Order.Self.Read', 'Order.Self.Read'), ('Order.All.Write', 'Order.All.Write'), ('Order.Self.Write', 'Order.Self.Write')], max_length=32), blank=True, default=list, size=None)),
                    ('message', models.TextField(blank=True, max_length=2000)),
                    ('state', models.CharField(choices=[('Pending', 'Pending'), ('Approved', 'Approved'), ('Denied', 'Denied'), ('Withdrawn', 'Withdrawn')], default='Pending', max_length=10)),
                    ('decided', models.DateTimeField(blank=True, null=True)),
                    ('note', models.TextField(blank=True, max_length=2000)),
                    ('created', models.DateTimeField(auto_now_add=True)),
                    ('updated', models.DateTimeField(auto_now=True)),
                    ('application', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                    ('decided_by', models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to=settings.AUTH_USER_MODEL)),
                    ('pgh_context', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='pghistory.context')),
                    ('pgh_obj', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='events', to='accounts.associationrequest')),
                    ('requested_by', models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to=settings.AUTH_USER_MODEL)),
                    ('store', models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to='stores.store')),
                    ('user', models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'abstract': False,
                },
            ),
            migrations.CreateModel(
                name='EmailChange',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('email', models.EmailField(max_length=254)),
                    ('digest', models.CharField(max_length=64, unique=True)),
                    ('password_digest', models.CharField(max_length=64)),
                    ('asked', models.DateTimeField()),
                    ('expires', models.DateTimeField()),
                    ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='email_change', to=settings.AUTH_USER_MODEL)),
                ],
            ),
            migrations.CreateModel(
                name='IdempotentAnswer',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(max_length=64)),
                    ('fingerprint', models.CharField(max_length=64)),
                    ('status', models.PositiveSmallIntegerField()),
                    ('headers', models.JSONField()),
                    ('body', models.BinaryField()),
                    ('created', models.DateTimeField()),
                    ('application', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                    ('user', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'indexes': [models.Index(models.F('created'), name='idempotent_answer_age')],
                    'constraints': [models.UniqueConstraint(models.F('key'), models.F('user'), models.F('application'), name='idempotent_answer_unique', nulls_distinct=False)],
                },
            ),
            migrations.CreateModel(
                name='RateWindow',
                fields=[
                    ('bucket', models.CharField(max_length=100, primary_key=True, serialize=False)),
                    ('started', models.DateTimeField()),
                    ('used', models.IntegerField()),
                ],
            ),
            migrations.CreateModel(
                name='Role',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('grant', models.CharField(choices=[('Application.All.Read', 'Application.All.Read'), ('Application.Self.Read', 'Application.Self.Read'), ('Application.All.Write', 'Application.All.Write'), ('Application.Self.Write', 'Application.Self.Write'), ('Store.All.Read', 'Store.All.Read'), ('Store.Self.Read', 'Store.Self.Read'), ('Order.All.Read', 'Order.All.Read'), ('Order.Self.Read', 'Order.Self.Read'), ('Order.All.Write', 'Order.All.Write'), ('Order.Self.Write', 'Order.Self.Write')], max_length=32)),
                    ('created', models.DateTimeField(auto_now_add=True)),
                    ('application', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='roles', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                    ('store', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='roles', to='stores.store')),
                    ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='roles', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'indexes': [models.Index(models.F('application'), models.F('store'), name='role_association'), models.Index(models.F('store'), models.F('user'), name='role_store_user')],
                    'constraints': [models.UniqueConstraint(models.F('user'), models.F('application'), models.F('store'), models.F('grant'), name='role_unique', nulls_distinct=False, violation_error_message='This role is given already.'), models.CheckConstraint(condition=models.Q(('grant__in', ['Application.All.Read', 'Application.Self.Read', 'Application.All.Write', 'Application.Self.Write', 'Store.All.Read', 'Store.Self.Read', 'Order.All.Read', 'Order.Self.Read', 'Order.All.Write', 'Order.Self.Write'])), name='role_grant_known'), models.CheckConstraint(condition=models.Q(('user__isnull', False), models.Q(('application__isnull', False), ('store__isnull', False)), _connector='OR'), name='role_joins_something', violation_error_message="A role is a user's, or joins an application with a store.")],
                },
            ),
            migrations.CreateModel(
                name='RoleEvent',
                fields=[
                    ('pgh_id', models.AutoField(primary_key=True, serialize=False)),
                    ('pgh_created_at', models.DateTimeField(auto_now_add=True)),
                    ('pgh_label', models.TextField(help_text='The event label.')),
                    ('id', models.BigIntegerField()),
                    ('grant', models.CharField(choices=[('Application.All.Read', 'Application.All.Read'), ('Application.Self.Read', 'Application.Self.Read'), ('Application.All.Write', 'Application.All.Write'), ('Application.Self.Write', 'Application.Self.Write'), ('Store.All.Read', 'Store.All.Read'), ('Store.Self.Read', 'Store.Self.Read'), ('Order.All.Read', 'Order.All.Read'), ('Order.Self.Read', 'Order.Self.Read'), ('Order.All.Write', 'Order.All.Write'), ('Order.Self.Write', 'Order.Self.Write')], max_length=32)),
                    ('created', models.DateTimeField(auto_now_add=True)),
                    ('application', models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                    ('pgh_context', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='pghistory.context')),
                    ('pgh_obj', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='events', to='accounts.role')),
                    ('store', models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to='stores.store')),
                    ('user', models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'abstract': False,
                },
            ),
            migrations.CreateModel(
                name='SecretGeneration',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('setting', models.CharField(max_length=40)),
                    ('fingerprint', models.CharField(max_length=64)),
                    ('since', models.DateTimeField(null=True)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(models.F('setting'), models.F('fingerprint'), name='secret_generation_unique')],
                },
            ),
            migrations.CreateModel(
                name='Subscription',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('requests_per_minute', models.PositiveIntegerField(default=600, help_text='What is above is answered 429. A change holds from the next request on.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1000000)])),
                    ('created', models.DateTimeField(auto_now_add=True)),
                    ('application', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='subscription', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                    ('user', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='subscription', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'constraints': [models.CheckConstraint(condition=models.Q(('user__isnull', True), ('application__isnull', True), _connector='XOR'), name='subscription_has_one_owner')],
                },
            ),
            migrations.CreateModel(
                name='SubscriptionEvent',
                fields=[
                    ('pgh_id', models.AutoField(primary_key=True, serialize=False)),
                    ('pgh_created_at', models.DateTimeField(auto_now_add=True)),
                    ('pgh_label', models.TextField(help_text='The event label.')),
                    ('id', models.BigIntegerField()),
                    ('requests_per_minute', models.PositiveIntegerField(default=600, help_text='What is above is answered 429. A change holds from the next request on.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1000000)])),
                    ('created', models.DateTimeField(auto_now_add=True)),
                    ('application', models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                    ('pgh_context', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='pghistory.context')),
                    ('pgh_obj', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='events', to='accounts.subscription')),
                    ('user', models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'abstract': False,
                },
            ),
            migrations.CreateModel(
                name='SubscriptionKey',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('slot', models.CharField(choices=[('primary', 'Primary'), ('secondary', 'Secondary')], max_length=10)),
                    ('digest', models.CharField(max_length=64, unique=True)),
                    ('ciphertext', models.BinaryField()),
                    ('regenerated', models.DateTimeField()),
                    ('subscription', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='keys', to='accounts.subscription')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(models.F('subscription'), models.F('slot'), name='subscription_key_unique_slot')],
                },
            ),
            migrations.CreateModel(
                name='SubscriptionKeyEvent',
                fields=[
                    ('pgh_id', models.AutoField(primary_key=True, serialize=False)),
                    ('pgh_created_at', models.DateTimeField(auto_now_add=True)),
                    ('pgh_label', models.TextField(help_text='The event label.')),
                    ('id', models.BigIntegerField()),
                    ('slot', models.CharField(choices=[('primary', 'Primary'), ('secondary', 'Secondary')], max_length=10)),
                    ('regenerated', models.DateTimeField()),
                    ('pgh_context', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='pghistory.context')),
                    ('pgh_obj', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='events', to='accounts.subscriptionkey')),
                    ('subscription', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to='accounts.subscription')),
                ],
                options={
                    'abstract': False,
                },
            ),
            migrations.CreateModel(
                name='TenantEvent',
                fields=[
                    ('pgh_id', models.AutoField(primary_key=True, serialize=False)),
                    ('pgh_created_at', models.DateTimeField(auto_now_add=True)),
                    ('pgh_label', models.TextField(help_text='The event label.')),
                    ('id', models.BigIntegerField()),
                    ('domain', models.CharField(max_length=253, validators=[django.core.validators.RegexValidator('^(?=.{1,253}\\Z)[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*\\Z', 'Write a domain name, such as example.com.')])),
                    ('name', models.CharField(max_length=200)),
                    ('created', models.DateTimeField(auto_now_add=True)),
                    ('pgh_context', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='pghistory.context')),
                    ('pgh_obj', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='events', to='accounts.tenant')),
                ],
                options={
                    'abstract': False,
                },
            ),
            migrations.CreateModel(
                name='Authenticator',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('ciphertext', models.BinaryField()),
                    ('last_step', models.BigIntegerField()),
                    ('created', models.DateTimeField(auto_now_add=True)),
                    ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='authenticator', to=settings.AUTH_USER_MODEL)),
                ],
            ),
            migrations.CreateModel(
                name='RecoveryCode',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('digest', models.CharField(max_length=64)),
                    ('authenticator', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='recovery_codes', to='accounts.authenticator')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(models.F('authenticator'), models.F('digest'), name='recovery_code_unique')],
                },
            ),
            migrations.CreateModel(
                name='UserEvent',
                fields=[
                    ('pgh_id', models.AutoField(primary_key=True, serialize=False)),
                    ('pgh_created_at', models.DateTimeField(auto_now_add=True)),
                    ('pgh_label', models.TextField(help_text='The event label.')),
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, serialize=False)),
                    ('username', models.CharField(max_length=150, validators=[accounts.names.validate_username])),
                    ('first_name', models.CharField(blank=True, max_length=150)),
                    ('last_name', models.CharField(blank=True, max_length=150)),
                    ('email', models.EmailField(max_length=254)),
                    ('phone', models.CharField(blank=True, max_length=50)),
                    ('is_operator', models.BooleanField(default=False, verbose_name='operator')),
                    ('is_active', models.BooleanField(default=True, help_text='An inactive user is refused at once, with every token and session.', verbose_name='active')),
                    ('time_zone', models.CharField(default='UTC', max_length=64)),
                    ('created', models.DateTimeField(auto_now_add=True)),
                    ('updated', models.DateTimeField(auto_now=True)),
                    ('pgh_context', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='pghistory.context')),
                    ('pgh_obj', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='events', to=settings.AUTH_USER_MODEL)),
                    ('tenant', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to='accounts.tenant')),
                    ('two_factor_since', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='two-step sign-in since')),
                    ('email_confirmed', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='e-mail confirmed')),
                ],
                options={
                    'abstract': False,
                },
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='tenant',
                trigger=pgtrigger.compiler.Trigger(name='insert_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "accounts_tenantevent" ("created", "domain", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (NEW."created", NEW."domain", NEW."id", NEW."name", _pgh_attach_context(), NOW(), \'insert\', NEW."id"); RETURN NULL;', hash='e421fc4cd66c40e3c4a9bf2a0b2438268406bbf2', operation='INSERT', pgid='pgtrigger_insert_insert_9366d', table='accounts_tenant', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='tenant',
                trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD.* IS DISTINCT FROM NEW.*)', func='INSERT INTO "accounts_tenantevent" ("created", "domain", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (NEW."created", NEW."domain", NEW."id", NEW."name", _pgh_attach_context(), NOW(), \'update\', NEW."id"); RETURN NULL;', hash='0ef35fe42c1117a2d1b32c09a6c2a819c859093b', operation='UPDATE', pgid='pgtrigger_update_update_c0c6d', table='accounts_tenant', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='tenant',
                trigger=pgtrigger.compiler.Trigger(name='delete_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "accounts_tenantevent" ("created", "domain", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (OLD."created", OLD."domain", OLD."id", OLD."name", _pgh_attach_context(), NOW(), \'delete\', OLD."id"); RETURN NULL;', hash='94af8c356f8aa1f794a68b22f3eb27a3cd2ad0b5', operation='DELETE', pgid='pgtrigger_delete_delete_f603e', table='accounts_tenant', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='user',
                trigger=pgtrigger.compiler.Trigger(name='prepare_name', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (NEW."prepared_name" IS NULL)', func='NEW.prepared_name = lower(normalize(NEW.username, NFC)); RETURN NEW;', hash='54363eeb953206328b751fae4720782e608e51cb', operation='INSERT', pgid='pgtrigger_prepare_name_24dc9', table='accounts_user', when='BEFORE')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='user',
                trigger=pgtrigger.compiler.Trigger(name='insert_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "accounts_userevent" ("created", "email", "email_confirmed", "first_name", "id", "is_active", "is_operator", "last_name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "phone", "tenant_id", "time_zone", "two_factor_since", "updated", "username") VALUES (NEW."created", NEW."email", NEW."email_confirmed", NEW."first_name", NEW."id", NEW."is_active", NEW."is_operator", NEW."last_name", _pgh_attach_context(), NOW(), \'insert\', NEW."id", NEW."phone", NEW."tenant_id", NEW."time_zone", NEW."two_factor_since", NEW."updated", NEW."username"); RETURN NULL;', hash='8a502643236749bcceddd6df8bb688fa389378a6', operation='INSERT', pgid='pgtrigger_insert_insert_3867c', table='accounts_user', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='user',
                trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."created" IS DISTINCT FROM (NEW."created") OR OLD."email" IS DISTINCT FROM (NEW."email") OR OLD."email_confirmed" IS DISTINCT FROM (NEW."email_confirmed") OR OLD."first_name" IS DISTINCT FROM (NEW."first_name") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."is_active" IS DISTINCT FROM (NEW."is_active") OR OLD."is_operator" IS DISTINCT FROM (NEW."is_operator") OR OLD."last_name" IS DISTINCT FROM (NEW."last_name") OR OLD."phone" IS DISTINCT FROM (NEW."phone") OR OLD."tenant_id" IS DISTINCT FROM (NEW."tenant_id") OR OLD."time_zone" IS DISTINCT FROM (NEW."time_zone") OR OLD."two_factor_since" IS DISTINCT FROM (NEW."two_factor_since") OR OLD."updated" IS DISTINCT FROM (NEW."updated") OR OLD."username" IS DISTINCT FROM (NEW."username"))', func='INSERT INTO "accounts_userevent" ("created", "email", "email_confirmed", "first_name", "id", "is_active", "is_operator", "last_name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "phone", "tenant_id", "time_zone", "two_factor_since", "updated", "username") VALUES (NEW."created", NEW."email", NEW."email_confirmed", NEW."first_name", NEW."id", NEW."is_active", NEW."is_operator", NEW."last_name", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."phone", NEW."tenant_id", NEW."time_zone", NEW."two_factor_since", NEW."updated", NEW."username"); RETURN NULL;', hash='8d2adbfb1f8683bf5eb2575f4275df9093fe4295', operation='UPDATE', pgid='pgtrigger_update_update_0e890', table='accounts_user', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='user',
                trigger=pgtrigger.compiler.Trigger(name='delete_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "accounts_userevent" ("created", "email", "email_confirmed", "first_name", "id", "is_active", "is_operator", "last_name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "phone", "tenant_id", "time_zone", "two_factor_since", "updated", "username") VALUES (OLD."created", OLD."email", OLD."email_confirmed", OLD."first_name", OLD."id", OLD."is_active", OLD."is_operator", OLD."last_name", _pgh_attach_context(), NOW(), \'delete\', OLD."id", OLD."phone", OLD."tenant_id", OLD."time_zone", OLD."two_factor_since", OLD."updated", OLD."username"); RETURN NULL;', hash='d7ce7d06a9f0cf3ea22d53f9a129677ee5ef0838', operation='DELETE', pgid='pgtrigger_delete_delete_19f14', table='accounts_user', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='associationrequest',
                trigger=pgtrigger.compiler.Trigger(name='insert_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "accounts_associationrequestevent" ("application_id", "created", "decided", "decided_by_id", "grants", "id", "message", "note", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "requested_by_id", "state", "store_id", "updated", "user_id") VALUES (NEW."application_id", NEW."created", NEW."decided", NEW."decided_by_id", NEW."grants", NEW."id", NEW."message", NEW."note", _pgh_attach_context(), NOW(), \'insert\', NEW."id", NEW."requested_by_id", NEW."state", NEW."store_id", NEW."updated", NEW."user_id"); RETURN NULL;', hash='26f5c51041dc74a2c99bff465ae29e472f3ad601', operation='INSERT', pgid='pgtrigger_insert_insert_b68ab', table='accounts_associationrequest', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='associationrequest',
                trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD.* IS DISTINCT FROM NEW.*)', func='INSERT INTO "accounts_associationrequestevent" ("application_id", "created", "decided", "decided_by_id", "grants", "id", "message", "note", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "requested_by_id", "state", "store_id", "updated", "user_id") VALUES (NEW."application_id", NEW."created", NEW."decided", NEW."decided_by_id", NEW."grants", NEW."id", NEW."message", NEW."note", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."requested_by_id", NEW."state", NEW."store_id", NEW."updated", NEW."user_id"); RETURN NULL;', hash='efb32e88ae16db9cdcd05afecf7601d6c5d1a3d1', operation='UPDATE', pgid='pgtrigger_update_update_1e464', table='accounts_associationrequest', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='associationrequest',
                trigger=pgtrigger.compiler.Trigger(name='delete_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "accounts_associationrequestevent" ("application_id", "created", "decided", "decided_by_id", "grants", "id", "message", "note", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "requested_by_id", "state", "store_id", "updated", "user_id") VALUES (OLD."application_id", OLD."created", OLD."decided", OLD."decided_by_id", OLD."grants", OLD."id", OLD."message", OLD."note", _pgh_attach_context(), NOW(), \'delete\', OLD."id", OLD."requested_by_id", OLD."state", OLD."store_id", OLD."updated", OLD."user_id"); RETURN NULL;', hash='5fef7d99a3180041289c245d889f1bc38f37170b', operation='DELETE', pgid='pgtrigger_delete_delete_be331', table='accounts_associationrequest', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='associationrequestevent',
                trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='3d42ef28540e4b15e60117c1802e72bdbcfd04a8', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_ff3df', table='accounts_associationrequestevent', when='BEFORE')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='role',
                trigger=pgtrigger.compiler.Trigger(name='insert_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "accounts_roleevent" ("application_id", "created", "grant", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "store_id", "user_id") VALUES (NEW."application_id", NEW."created", NEW."grant", NEW."id", _pgh_attach_context(), NOW(), \'insert\', NEW."id", NEW."store_id", NEW."user_id"); RETURN NULL;', hash='c126df3cae0356837b48692939553c5dce149fac', operation='INSERT', pgid='pgtrigger_insert_insert_d9a3a', table='accounts_role', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='role',
                trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD.* IS DISTINCT FROM NEW.*)', func='INSERT INTO "accounts_roleevent" ("application_id", "created", "grant", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "store_id", "user_id") VALUES (NEW."application_id", NEW."created", NEW."grant", NEW."id", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."store_id", NEW."user_id"); RETURN NULL;', hash='1f4a75d0a5759990a58ddca7f462e5d46e6abcc2', operation='UPDATE', pgid='pgtrigger_update_update_023a0', table='accounts_role', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='role',
                trigger=pgtrigger.compiler.Trigger(name='delete_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "accounts_roleevent" ("application_id", "created", "grant", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "store_id", "user_id") VALUES (OLD."application_id", OLD."created", OLD."grant", OLD."id", _pgh_attach_context(), NOW(), \'delete\', OLD."id", OLD."store_id", OLD."user_id"); RETURN NULL;', hash='c0925af77ddf4712bc43d053f37d1ddd9777c42e', operation='DELETE', pgid='pgtrigger_delete_delete_d75a6', table='accounts_role', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='roleevent',
                trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='b564108b8bf5a07512863705a922155d3bbdc3f6', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_ab9e0', table='accounts_roleevent', when='BEFORE')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='subscription',
                trigger=pgtrigger.compiler.Trigger(name='insert_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "accounts_subscriptionevent" ("application_id", "created", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "requests_per_minute", "user_id") VALUES (NEW."application_id", NEW."created", NEW."id", _pgh_attach_context(), NOW(), \'insert\', NEW."id", NEW."requests_per_minute", NEW."user_id"); RETURN NULL;', hash='52dcb8b9a9baf281d6f61a122d3184a549588fb4', operation='INSERT', pgid='pgtrigger_insert_insert_0ee69', table='accounts_subscription', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='subscription',
                trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD.* IS DISTINCT FROM NEW.*)', func='INSERT INTO "accounts_subscriptionevent" ("application_id", "created", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "requests_per_minute", "user_id") VALUES (NEW."application_id", NEW."created", NEW."id", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."requests_per_minute", NEW."user_id"); RETURN NULL;', hash='7e076daa8d990bce4dfbd11d73ca05b38ddacfbf', operation='UPDATE', pgid='pgtrigger_update_update_b4ce7', table='accounts_subscription', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='subscription',
                trigger=pgtrigger.compiler.Trigger(name='delete_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "accounts_subscriptionevent" ("application_id", "created", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "requests_per_minute", "user_id") VALUES (OLD."application_id", OLD."created", OLD."id", _pgh_attach_context(), NOW(), \'delete\', OLD."id", OLD."requests_per_minute", OLD."user_id"); RETURN NULL;', hash='7082fccc2d051e0381cba304f339ee252a2647a8', operation='DELETE', pgid='pgtrigger_delete_delete_2ea23', table='accounts_subscription', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='subscriptionevent',
                trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='9e40c5c71f0c1f380d99899eeaa2c427ff965744', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_f39a4', table='accounts_subscriptionevent', when='BEFORE')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='subscriptionkey',
                trigger=pgtrigger.compiler.Trigger(name='insert_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "accounts_subscriptionkeyevent" ("id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "regenerated", "slot", "subscription_id") VALUES (NEW."id", _pgh_attach_context(), NOW(), \'insert\', NEW."id", NEW."regenerated", NEW."slot", NEW."subscription_id"); RETURN NULL;', hash='90a4b24db312e8d55aef64dd102ef92ab426d56e', operation='INSERT', pgid='pgtrigger_insert_insert_72ef0', table='accounts_subscriptionkey', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='subscriptionkey',
                trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."regenerated" IS DISTINCT FROM (NEW."regenerated") OR OLD."slot" IS DISTINCT FROM (NEW."slot") OR OLD."subscription_id" IS DISTINCT FROM (NEW."subscription_id"))', func='INSERT INTO "accounts_subscriptionkeyevent" ("id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "regenerated", "slot", "subscription_id") VALUES (NEW."id", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."regenerated", NEW."slot", NEW."subscription_id"); RETURN NULL;', hash='c7ec1b33deda32a404b0a2b07b3edad10da89f71', operation='UPDATE', pgid='pgtrigger_update_update_0eab7', table='accounts_subscriptionkey', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='subscriptionkey',
                trigger=pgtrigger.compiler.Trigger(name='delete_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "accounts_subscriptionkeyevent" ("id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "regenerated", "slot", "subscription_id") VALUES (OLD."id", _pgh_attach_context(), NOW(), \'delete\', OLD."id", OLD."regenerated", OLD."slot", OLD."subscription_id"); RETURN NULL;', hash='92ea75e96adf06180476acbf64631e0c2213c505', operation='DELETE', pgid='pgtrigger_delete_delete_1ac52', table='accounts_subscriptionkey', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='subscriptionkeyevent',
                trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='832dab8004579c6b7ad140bba0469e35e3b2ef08', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_e2a54', table='accounts_subscriptionkeyevent', when='BEFORE')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='tenantevent',
                trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='edac0362ee7d3ee563d7d1c7723488b0e443f589', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_7ab5d', table='accounts_tenantevent', when='BEFORE')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='userevent',
                trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='9e9498e73f6fbdf2642fb33fa14189f1ad2382c8', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_45b21', table='accounts_userevent', when='BEFORE')),
            ),
        ]),
        # Written with every request: nothing to recover, and room on each page for the next version of a row.
        migrations.RunSQL(
            "ALTER TABLE accounts_ratewindow SET UNLOGGED; "
            "ALTER TABLE accounts_ratewindow SET (fillfactor = 50, autovacuum_vacuum_threshold = 1000)",
            migrations.RunSQL.noop,
        ),
    ]
