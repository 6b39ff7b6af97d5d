import django.db.models.deletion
import django.utils.timezone
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

from fulfillment.core.db.first_migrations import CreateTogether


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('pghistory', '0007_auto_20250421_0444'),
    ]

    operations = [
        CreateTogether([
            migrations.CreateModel(
                name='Dataset',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('status', models.CharField(choices=[('ready', 'Ready'), ('active', 'Active'), ('retired', 'Retired'), ('discarded', 'Discarded')], default='ready', max_length=10)),
                    ('vintage', models.DateField(help_text='The first day of the month the counts are of.')),
                    ('is_synthetic', models.BooleanField(default=False, help_text='Invented counts, for trying out.', verbose_name='synthetic')),
                    ('is_merged', models.BooleanField(default=False, help_text='Some ZIP codes come from an older data set.', verbose_name='merged')),
                    ('source_format', models.CharField(max_length=10)),
                    ('file_name', models.CharField(max_length=255)),
                    ('sha256', models.CharField(max_length=64, verbose_name='SHA-256')),
                    ('route_types', models.CharField(help_text='The route types the API counts.', max_length=4)),
                    ('postal_code_count', models.PositiveIntegerField(verbose_name='ZIP codes')),
                    ('totals_by_type', models.JSONField(default=dict)),
                    ('route_count', models.PositiveIntegerField(help_text='Of the types the API counts.', verbose_name='routes')),
                    ('residential', models.PositiveBigIntegerField()),
                    ('business', models.PositiveBigIntegerField()),
                    ('concerns', models.JSONField(blank=True, default=list, help_text='Why it was not activated by itself.')),
                    ('created', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('created_by', models.CharField(blank=True, max_length=320)),
                    ('activated', models.DateTimeField(blank=True, null=True)),
                    ('activated_by', models.CharField(blank=True, max_length=320)),
                ],
                options={
                    'verbose_name': 'EDDM data set',
                    'ordering': ['-id'],
                    'constraints': [models.UniqueConstraint(models.F('status'), condition=models.Q(('status', 'active')), name='dataset_one_active'), models.CheckConstraint(condition=models.Q(('vintage__day', 1)), name='dataset_vintage_is_a_month')],
                },
            ),
            migrations.CreateModel(
                name='DatasetEvent',
                fields=[
                    ('pgh_id', models.AutoField(primary_key=True, serialize=False)),
                    ('pgh_created_at', models.DateTimeField(auto_now_add=True)),
                    ('pgh_label', models.TextField(help_text='The event label.')),
                    ('id', models.BigIntegerField()),
                    ('status', models.CharField(choices=[('ready', 'Ready'), ('active', 'Active'), ('retired', 'Retired'), ('discarded', 'Discarded')], default='ready', max_length=10)),
                    ('vintage', models.DateField(help_text='The first day of the month the counts are of.')),
                    ('is_synthetic', models.BooleanField(default=False, help_text='Invented counts, for trying out.', verbose_name='synthetic')),
                    ('is_merged', models.BooleanField(default=False, help_text='Some ZIP codes come from an older data set.', verbose_name='merged')),
                    ('source_format', models.CharField(max_length=10)),
                    ('file_name', models.CharField(max_length=255)),
                    ('sha256', models.CharField(max_length=64, verbose_name='SHA-256')),
                    ('route_types', models.CharField(help_text='The route types the API counts.', max_length=4)),
                    ('postal_code_count', models.PositiveIntegerField(verbose_name='ZIP codes')),
                    ('totals_by_type', models.JSONField(default=dict)),
                    ('route_count', models.PositiveIntegerField(help_text='Of the types the API counts.', verbose_name='routes')),
                    ('residential', models.PositiveBigIntegerField()),
                    ('business', models.PositiveBigIntegerField()),
                    ('concerns', models.JSONField(blank=True, default=list, help_text='Why it was not activated by itself.')),
                    ('created', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('created_by', models.CharField(blank=True, max_length=320)),
                    ('activated', models.DateTimeField(blank=True, null=True)),
                    ('activated_by', models.CharField(blank=True, max_length=320)),
                    ('pgh_context', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='pghistory.context')),
                    ('pgh_obj', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='events', to='delivery.dataset')),
                ],
                options={
                    'abstract': False,
                },
            ),
            migrations.CreateModel(
                name='LiveDataset',
                fields=[
                    ('id', models.PositiveSmallIntegerField(default=1, editable=False, primary_key=True, serialize=False)),
                    ('dataset', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='delivery.dataset')),
                ],
                options={
                    'constraints': [models.CheckConstraint(condition=models.Q(('id', 1)), name='live_dataset_one_row')],
                },
            ),
            migrations.CreateModel(
                name='Population',
                fields=[
                    ('pk', models.CompositePrimaryKey('dataset_id', 'postal_code', blank=True, editable=False, primary_key=True, serialize=False)),
                    ('dataset', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='populations', to='delivery.dataset')),
                    ('postal_code', models.CharField(max_length=5)),
                    ('residential', models.PositiveIntegerField()),
                    ('business', models.PositiveIntegerField()),
                    ('routes', models.TextField()),
                    ('body', models.TextField()),
                ],
            ),
            migrations.CreateModel(
                name='ImportRun',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('state', models.CharField(choices=[('uploaded', 'Uploaded'), ('waiting', 'Waiting to start'), ('running', 'Running'), ('loaded', 'Loaded'), ('failed', 'Failed')], default='uploaded', max_length=10)),
                    ('upload', models.FileField(blank=True, upload_to='eddm/uploads')),
                    ('file_name', models.CharField(max_length=255)),
                    ('options', models.JSONField(default=dict)),
                    ('phase', models.CharField(blank=True, max_length=40)),
                    ('percent', models.PositiveSmallIntegerField(default=0)),
                    ('row_count', models.PositiveIntegerField(default=0, verbose_name='lines read')),
                    ('reject_count', models.PositiveIntegerField(default=0, verbose_name='lines rejected')),
                    ('warning_count', models.PositiveIntegerField(default=0, verbose_name='warnings')),
                    ('problem_counts', models.JSONField(default=dict)),
                    ('notes', models.JSONField(default=list)),
                    ('problem_file', models.FileField(blank=True, upload_to='eddm/problems')),
                    ('error', models.TextField(blank=True)),
                    ('created', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('created_by', models.CharField(blank=True, max_length=320)),
                    ('updated', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('finished', models.DateTimeField(blank=True, null=True)),
                    ('dataset', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='import_run', to='delivery.dataset')),
                ],
                options={
                    'verbose_name': 'EDDM import',
                    'ordering': ['-id'],
                },
            ),
            migrations.CreateModel(
                name='ImportProblem',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('line', models.PositiveBigIntegerField()),
                    ('column', models.CharField(blank=True, max_length=80)),
                    ('value', models.CharField(blank=True, max_length=80)),
                    ('code', models.CharField(max_length=12)),
                    ('import_run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='problems', to='delivery.importrun')),
                ],
                options={
                    'ordering': ['id'],
                },
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='dataset',
                trigger=pgtrigger.compiler.Trigger(name='insert_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "delivery_datasetevent" ("activated", "activated_by", "business", "concerns", "created", "created_by", "file_name", "id", "is_merged", "is_synthetic", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "postal_code_count", "residential", "route_count", "route_types", "sha256", "source_format", "status", "totals_by_type", "vintage") VALUES (NEW."activated", NEW."activated_by", NEW."business", NEW."concerns", NEW."created", NEW."created_by", NEW."file_name", NEW."id", NEW."is_merged", NEW."is_synthetic", _pgh_attach_context(), NOW(), \'insert\', NEW."id", NEW."postal_code_count", NEW."residential", NEW."route_count", NEW."route_types", NEW."sha256", NEW."source_format", NEW."status", NEW."totals_by_type", NEW."vintage"); RETURN NULL;', hash='763d9e1c84b4d8ec2bc51a1949e07d0b4dc1f68b', operation='INSERT', pgid='pgtrigger_insert_insert_4f57e', table='delivery_dataset', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='dataset',
                trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD.* IS DISTINCT FROM NEW.*)', func='INSERT INTO "delivery_datasetevent" ("activated", "activated_by", "business", "concerns", "created", "created_by", "file_name", "id", "is_merged", "is_synthetic", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "postal_code_count", "residential", "route_count", "route_types", "sha256", "source_format", "status", "totals_by_type", "vintage") VALUES (NEW."activated", NEW."activated_by", NEW."business", NEW."concerns", NEW."created", NEW."created_by", NEW."file_name", NEW."id", NEW."is_merged", NEW."is_synthetic", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."postal_code_count", NEW."residential", NEW."route_count", NEW."route_types", NEW."sha256", NEW."source_format", NEW."status", NEW."totals_by_type", NEW."vintage"); RETURN NULL;', hash='99637bb9fbdcc0c1dd9dd765906820e817b55544', operation='UPDATE', pgid='pgtrigger_update_update_3ac82', table='delivery_dataset', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='dataset',
                trigger=pgtrigger.compiler.Trigger(name='delete_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "delivery_datasetevent" ("activated", "activated_by", "business", "concerns", "created", "created_by", "file_name", "id", "is_merged", "is_synthetic", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "postal_code_count", "residential", "route_count", "route_types", "sha256", "source_format", "status", "totals_by_type", "vintage") VALUES (OLD."activated", OLD."activated_by", OLD."business", OLD."concerns", OLD."created", OLD."created_by", OLD."file_name", OLD."id", OLD."is_merged", OLD."is_synthetic", _pgh_attach_context(), NOW(), \'delete\', OLD."id", OLD."postal_code_count", OLD."residential", OLD."route_count", OLD."route_types", OLD."sha256", OLD."source_format", OLD."status", OLD."totals_by_type", OLD."vintage"); RETURN NULL;', hash='343c836b4d31f4dc95057d50b676bd281a4c1495', operation='DELETE', pgid='pgtrigger_delete_delete_b2b32', table='delivery_dataset', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='datasetevent',
                trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='8a1f91994b3a08fc03a775d497f12684be2905c0', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_8a423', table='delivery_datasetevent', when='BEFORE')),
            ),
        ]),
        # Bodies are read far more often than written: inline up to a page and never compressed.
        migrations.RunSQL(
            "ALTER TABLE delivery_population ALTER COLUMN body SET STORAGE EXTERNAL;"
            "ALTER TABLE delivery_population SET (toast_tuple_target = 8160);",
            migrations.RunSQL.noop,
        ),
    ]
