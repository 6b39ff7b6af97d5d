import delivery.datasets.models.dataset
import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('delivery', '0002_selections'),
    ]

    operations = [
        migrations.CreateModel(
            name='Area',
            fields=[
                ('pk', models.CompositePrimaryKey('dataset_id', 'postal_code', blank=True, editable=False, primary_key=True, serialize=False)),
                ('dataset', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='areas', to='delivery.dataset')),
                ('postal_code', models.CharField(max_length=5)),
                ('box', delivery.datasets.models.dataset.BoxField(null=True)),
                ('shapes', models.BinaryField(null=True)),
                ('shape_count', models.PositiveSmallIntegerField()),
                ('facts', models.TextField()),
            ],
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='dataset',
            name='insert_insert',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='dataset',
            name='update_update',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='dataset',
            name='delete_delete',
        ),
        migrations.AddField(
            model_name='dataset',
            name='shape_count',
            field=models.PositiveIntegerField(db_default=0, default=0, help_text='Routes whose geometry is known.', verbose_name='routes on the map'),
        ),
        migrations.AddField(
            model_name='datasetevent',
            name='shape_count',
            field=models.PositiveIntegerField(db_default=0, default=0, help_text='Routes whose geometry is known.', verbose_name='routes on the map'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='dataset',
            trigger=pgtrigger.compiler.Trigger(name='insert_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "delivery_datasetevent" ("activated", "activated_by", "business", "concerns", "created", "created_by", "file_name", "id", "is_merged", "is_synthetic", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "postal_code_count", "residential", "route_count", "route_types", "sha256", "shape_count", "source_format", "status", "totals_by_type", "vintage") VALUES (NEW."activated", NEW."activated_by", NEW."business", NEW."concerns", NEW."created", NEW."created_by", NEW."file_name", NEW."id", NEW."is_merged", NEW."is_synthetic", _pgh_attach_context(), NOW(), \'insert\', NEW."id", NEW."postal_code_count", NEW."residential", NEW."route_count", NEW."route_types", NEW."sha256", NEW."shape_count", NEW."source_format", NEW."status", NEW."totals_by_type", NEW."vintage"); RETURN NULL;', hash='9a911c556adc685f332d8de032b8167515dc402a', operation='INSERT', pgid='pgtrigger_insert_insert_4f57e', table='delivery_dataset', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='dataset',
            trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD.* IS DISTINCT FROM NEW.*)', func='INSERT INTO "delivery_datasetevent" ("activated", "activated_by", "business", "concerns", "created", "created_by", "file_name", "id", "is_merged", "is_synthetic", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "postal_code_count", "residential", "route_count", "route_types", "sha256", "shape_count", "source_format", "status", "totals_by_type", "vintage") VALUES (NEW."activated", NEW."activated_by", NEW."business", NEW."concerns", NEW."created", NEW."created_by", NEW."file_name", NEW."id", NEW."is_merged", NEW."is_synthetic", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."postal_code_count", NEW."residential", NEW."route_count", NEW."route_types", NEW."sha256", NEW."shape_count", NEW."source_format", NEW."status", NEW."totals_by_type", NEW."vintage"); RETURN NULL;', hash='6fd1e92b3e7db6659444133f63938681ceea0111', operation='UPDATE', pgid='pgtrigger_update_update_3ac82', table='delivery_dataset', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='dataset',
            trigger=pgtrigger.compiler.Trigger(name='delete_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "delivery_datasetevent" ("activated", "activated_by", "business", "concerns", "created", "created_by", "file_name", "id", "is_merged", "is_synthetic", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "postal_code_count", "residential", "route_count", "route_types", "sha256", "shape_count", "source_format", "status", "totals_by_type", "vintage") VALUES (OLD."activated", OLD."activated_by", OLD."business", OLD."concerns", OLD."created", OLD."created_by", OLD."file_name", OLD."id", OLD."is_merged", OLD."is_synthetic", _pgh_attach_context(), NOW(), \'delete\', OLD."id", OLD."postal_code_count", OLD."residential", OLD."route_count", OLD."route_types", OLD."sha256", OLD."shape_count", OLD."source_format", OLD."status", OLD."totals_by_type", OLD."vintage"); RETURN NULL;', hash='311cdb97a2a519239c8caf5ba5b7c28c8ce71cda', operation='DELETE', pgid='pgtrigger_delete_delete_b2b32', table='delivery_dataset', when='AFTER')),
        ),
        # Packed already; compressing them again costs time and gains nothing.
        migrations.RunSQL(
            "ALTER TABLE delivery_area ALTER COLUMN shapes SET STORAGE EXTERNAL",
            migrations.RunSQL.noop,
        ),
    ]
