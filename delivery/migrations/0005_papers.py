import django.core.validators
import django.db.models.deletion
import django.utils.timezone
import pgtrigger.compiler
import pgtrigger.migrations
from decimal import Decimal
from django.db import migrations, models

from fulfillment.core.db.first_migrations import CreateTogether


class Migration(migrations.Migration):
    """Postage prices, and the operator's PDF of PS Form 3587."""

    dependencies = [
        ('delivery', '0004_area_boxes'),
        ('pghistory', '0007_auto_20250421_0444'),
    ]

    operations = [
        CreateTogether([
            migrations.CreateModel(
                name='OfficialForm',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('file_name', models.CharField(max_length=200)),
                    ('sha256', models.CharField(max_length=64, verbose_name='SHA-256')),
                    ('content', models.BinaryField()),
                    ('field_names', models.JSONField(default=list)),
                    ('mapping', models.JSONField(blank=True, default=dict)),
                    ('created', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ],
                options={
                    'verbose_name': 'PS Form 3587',
                    'verbose_name_plural': 'PS Form 3587',
                    'ordering': ['-id'],
                },
            ),
            migrations.CreateModel(
                name='OfficialFormEvent',
                fields=[
                    ('pgh_id', models.AutoField(primary_key=True, serialize=False)),
                    ('pgh_created_at', models.DateTimeField(auto_now_add=True)),
                    ('pgh_label', models.TextField(help_text='The event label.')),
                    ('id', models.BigIntegerField()),
                    ('file_name', models.CharField(max_length=200)),
                    ('sha256', models.CharField(max_length=64, verbose_name='SHA-256')),
                    ('field_names', models.JSONField(default=list)),
                    ('mapping', models.JSONField(blank=True, default=dict)),
                    ('created', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ],
                options={
                    'abstract': False,
                },
            ),
            migrations.CreateModel(
                name='PostagePrice',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('starts', models.DateField(help_text='The first day of this price.', unique=True, verbose_name='from')),
                    ('per_piece', models.DecimalField(decimal_places=4, help_text="US dollars, at most 4 decimals, as in the Postal Service's price list (Notice 123).", max_digits=7, validators=[django.core.validators.MinValueValidator(Decimal('0.0001'))], verbose_name='price of a piece')),
                    ('note', models.CharField(blank=True, help_text='Where it is from, for example.', max_length=200)),
                    ('created', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ],
                options={
                    'verbose_name': 'EDDM postage price',
                    'ordering': ['-starts'],
                },
            ),
            migrations.CreateModel(
                name='PostagePriceEvent',
                fields=[
                    ('pgh_id', models.AutoField(primary_key=True, serialize=False)),
                    ('pgh_created_at', models.DateTimeField(auto_now_add=True)),
                    ('pgh_label', models.TextField(help_text='The event label.')),
                    ('id', models.BigIntegerField()),
                    ('starts', models.DateField(help_text='The first day of this price.', verbose_name='from')),
                    ('per_piece', models.DecimalField(decimal_places=4, help_text="US dollars, at most 4 decimals, as in the Postal Service's price list (Notice 123).", max_digits=7, validators=[django.core.validators.MinValueValidator(Decimal('0.0001'))], verbose_name='price of a piece')),
                    ('note', models.CharField(blank=True, help_text='Where it is from, for example.', max_length=200)),
                    ('created', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ],
                options={
                    'abstract': False,
                },
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='officialform',
                trigger=pgtrigger.compiler.Trigger(name='insert_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "delivery_officialformevent" ("created", "field_names", "file_name", "id", "mapping", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "sha256") VALUES (NEW."created", NEW."field_names", NEW."file_name", NEW."id", NEW."mapping", _pgh_attach_context(), NOW(), \'insert\', NEW."id", NEW."sha256"); RETURN NULL;', hash='56a4d8462f7cc548ad867a03c135da91a2ec59de', operation='INSERT', pgid='pgtrigger_insert_insert_a2e79', table='delivery_officialform', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='officialform',
                trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."created" IS DISTINCT FROM (NEW."created") OR OLD."field_names" IS DISTINCT FROM (NEW."field_names") OR OLD."file_name" IS DISTINCT FROM (NEW."file_name") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."mapping" IS DISTINCT FROM (NEW."mapping") OR OLD."sha256" IS DISTINCT FROM (NEW."sha256"))', func='INSERT INTO "delivery_officialformevent" ("created", "field_names", "file_name", "id", "mapping", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "sha256") VALUES (NEW."created", NEW."field_names", NEW."file_name", NEW."id", NEW."mapping", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."sha256"); RETURN NULL;', hash='0451c23cfc51b26dcdbef33cb5ce075a94e59601', operation='UPDATE', pgid='pgtrigger_update_update_1a8a3', table='delivery_officialform', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='officialform',
                trigger=pgtrigger.compiler.Trigger(name='delete_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "delivery_officialformevent" ("created", "field_names", "file_name", "id", "mapping", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "sha256") VALUES (OLD."created", OLD."field_names", OLD."file_name", OLD."id", OLD."mapping", _pgh_attach_context(), NOW(), \'delete\', OLD."id", OLD."sha256"); RETURN NULL;', hash='619b390ab14648367bba1a015fb72bdd0d1a6e7e', operation='DELETE', pgid='pgtrigger_delete_delete_3f0be', table='delivery_officialform', when='AFTER')),
            ),
            migrations.AddField(
                model_name='officialformevent',
                name='pgh_context',
                field=models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='pghistory.context'),
            ),
            migrations.AddField(
                model_name='officialformevent',
                name='pgh_obj',
                field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='events', to='delivery.officialform'),
            ),
            migrations.AddConstraint(
                model_name='postageprice',
                constraint=models.CheckConstraint(condition=models.Q(('per_piece__gt', 0)), name='postage_price_positive'),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='postageprice',
                trigger=pgtrigger.compiler.Trigger(name='insert_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "delivery_postagepriceevent" ("created", "id", "note", "per_piece", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "starts") VALUES (NEW."created", NEW."id", NEW."note", NEW."per_piece", _pgh_attach_context(), NOW(), \'insert\', NEW."id", NEW."starts"); RETURN NULL;', hash='08e4be6cf1c45137f8f5f2d20c0765d267b99b5e', operation='INSERT', pgid='pgtrigger_insert_insert_ce811', table='delivery_postageprice', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='postageprice',
                trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD.* IS DISTINCT FROM NEW.*)', func='INSERT INTO "delivery_postagepriceevent" ("created", "id", "note", "per_piece", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "starts") VALUES (NEW."created", NEW."id", NEW."note", NEW."per_piece", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."starts"); RETURN NULL;', hash='cd2d6e33a2a8e555d1faa205ae48a1b8091926e8', operation='UPDATE', pgid='pgtrigger_update_update_e2188', table='delivery_postageprice', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='postageprice',
                trigger=pgtrigger.compiler.Trigger(name='delete_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "delivery_postagepriceevent" ("created", "id", "note", "per_piece", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "starts") VALUES (OLD."created", OLD."id", OLD."note", OLD."per_piece", _pgh_attach_context(), NOW(), \'delete\', OLD."id", OLD."starts"); RETURN NULL;', hash='371af01a4f4a75f1cf57b5bf40fea0c2aea50bcc', operation='DELETE', pgid='pgtrigger_delete_delete_b58c7', table='delivery_postageprice', when='AFTER')),
            ),
            migrations.AddField(
                model_name='postagepriceevent',
                name='pgh_context',
                field=models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='pghistory.context'),
            ),
            migrations.AddField(
                model_name='postagepriceevent',
                name='pgh_obj',
                field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='events', to='delivery.postageprice'),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='officialformevent',
                trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='4fb40a8b69dd7ce737c81dc89ec95ea8a12ef484', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_0669a', table='delivery_officialformevent', when='BEFORE')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='postagepriceevent',
                trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='dd6d4a19e15d495b821e0235c92de58765082918', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_1df75', table='delivery_postagepriceevent', when='BEFORE')),
            ),
        ]),
    ]
