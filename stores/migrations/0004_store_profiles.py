import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

from fulfillment.core.db.first_migrations import CreateTogether


class Migration(migrations.Migration):

    dependencies = [
        ('pghistory', '0007_auto_20250421_0444'),
        ('stores', '0003_keep_template_pictures'),
    ]

    operations = [
        CreateTogether([
            migrations.CreateModel(
                name='StoreProfileEvent',
                fields=[
                    ('pgh_id', models.AutoField(primary_key=True, serialize=False)),
                    ('pgh_created_at', models.DateTimeField(auto_now_add=True)),
                    ('pgh_label', models.TextField(help_text='The event label.')),
                    ('is_listed', models.BooleanField(default=False, verbose_name='listed in the directory')),
                    ('country', models.CharField(blank=True, max_length=100)),
                    ('website', models.CharField(blank=True, max_length=200, validators=[django.core.validators.URLValidator(['https', 'http'])])),
                    ('logo_sha256', models.CharField(blank=True, max_length=64)),
                    ('updated', models.DateTimeField(auto_now=True)),
                ],
                options={
                    'abstract': False,
                },
            ),
            migrations.CreateModel(
                name='StoreProfile',
                fields=[
                    ('store', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='profile', serialize=False, to='stores.store')),
                    ('is_listed', models.BooleanField(default=False, verbose_name='listed in the directory')),
                    ('country', models.CharField(blank=True, max_length=100)),
                    ('website', models.CharField(blank=True, max_length=200, validators=[django.core.validators.URLValidator(['https', 'http'])])),
                    ('logo', models.BinaryField(blank=True, null=True)),
                    ('logo_sha256', models.CharField(blank=True, db_index=True, max_length=64)),
                    ('updated', models.DateTimeField(auto_now=True)),
                ],
                options={
                    'indexes': [models.Index(models.F('store'), condition=models.Q(('is_listed', True)), name='store_profile_listed')],
                },
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='storeprofile',
                trigger=pgtrigger.compiler.Trigger(name='insert_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "stores_storeprofileevent" ("country", "is_listed", "logo_sha256", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "store_id", "updated", "website") VALUES (NEW."country", NEW."is_listed", NEW."logo_sha256", _pgh_attach_context(), NOW(), \'insert\', NEW."store_id", NEW."store_id", NEW."updated", NEW."website"); RETURN NULL;', hash='68c80d658325e60ba57fa0687d9472e48e47addc', operation='INSERT', pgid='pgtrigger_insert_insert_0d092', table='stores_storeprofile', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='storeprofile',
                trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."country" IS DISTINCT FROM (NEW."country") OR OLD."is_listed" IS DISTINCT FROM (NEW."is_listed") OR OLD."logo_sha256" IS DISTINCT FROM (NEW."logo_sha256") OR OLD."store_id" IS DISTINCT FROM (NEW."store_id") OR OLD."updated" IS DISTINCT FROM (NEW."updated") OR OLD."website" IS DISTINCT FROM (NEW."website"))', func='INSERT INTO "stores_storeprofileevent" ("country", "is_listed", "logo_sha256", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "store_id", "updated", "website") VALUES (NEW."country", NEW."is_listed", NEW."logo_sha256", _pgh_attach_context(), NOW(), \'update\', NEW."store_id", NEW."store_id", NEW."updated", NEW."website"); RETURN NULL;', hash='8bd8d39907d8f4155ec7e88e91015a22a05b76fd', operation='UPDATE', pgid='pgtrigger_update_update_8e247', table='stores_storeprofile', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='storeprofile',
                trigger=pgtrigger.compiler.Trigger(name='delete_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "stores_storeprofileevent" ("country", "is_listed", "logo_sha256", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "store_id", "updated", "website") VALUES (OLD."country", OLD."is_listed", OLD."logo_sha256", _pgh_attach_context(), NOW(), \'delete\', OLD."store_id", OLD."store_id", OLD."updated", OLD."website"); RETURN NULL;', hash='b7e0afc066c1a77ae7684399e33452e5b68a5f65', operation='DELETE', pgid='pgtrigger_delete_delete_26dc7', table='stores_storeprofile', when='AFTER')),
            ),
            migrations.AddField(
                model_name='storeprofileevent',
                name='pgh_context',
                field=models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='pghistory.context'),
            ),
            migrations.AddField(
                model_name='storeprofileevent',
                name='pgh_obj',
                field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='events', to='stores.storeprofile'),
            ),
            migrations.AddField(
                model_name='storeprofileevent',
                name='store',
                field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', serialize=False, to='stores.store'),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='storeprofileevent',
                trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='0696167a3065bf0b5117e2f1e8e5f821327caae9', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_99c25', table='stores_storeprofileevent', when='BEFORE')),
            ),
        ]),
    ]
