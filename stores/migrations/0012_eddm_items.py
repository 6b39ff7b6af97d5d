import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

from fulfillment.core.db.first_migrations import CreateTogether


class Migration(migrations.Migration):
    """Products that are marked for EDDM, and what an order item keeps of its selection."""

    dependencies = [
        ('stores', '0011_preflight'),
    ]

    operations = [
        CreateTogether([
            pgtrigger.migrations.RemoveTrigger(
                model_name='product',
                name='insert_insert',
            ),
            pgtrigger.migrations.RemoveTrigger(
                model_name='product',
                name='update_update',
            ),
            pgtrigger.migrations.RemoveTrigger(
                model_name='product',
                name='delete_delete',
            ),
            migrations.AddField(
                model_name='orderitem',
                name='eddm',
                field=models.JSONField(blank=True, editable=False, null=True),
            ),
            migrations.AddField(
                model_name='product',
                name='is_eddm',
                field=models.BooleanField(db_default=False, default=False, verbose_name='for EDDM'),
            ),
            migrations.AddField(
                model_name='productevent',
                name='is_eddm',
                field=models.BooleanField(db_default=False, default=False, verbose_name='for EDDM'),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='product',
                trigger=pgtrigger.compiler.Trigger(name='insert_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "stores_productevent" ("api_key", "category", "created", "default_quantity", "delivery_method", "description", "external_id", "height_mm", "id", "image_url", "is_active", "is_eddm", "maximum_quantity", "minimum_quantity", "name", "page_count", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "preset_id", "quantity_increment", "rendering", "store_id", "updated", "version", "width_mm") VALUES (NEW."api_key", NEW."category", NEW."created", NEW."default_quantity", NEW."delivery_method", NEW."description", NEW."external_id", NEW."height_mm", NEW."id", NEW."image_url", NEW."is_active", NEW."is_eddm", NEW."maximum_quantity", NEW."minimum_quantity", NEW."name", NEW."page_count", _pgh_attach_context(), NOW(), \'insert\', NEW."id", NEW."position", NEW."preset_id", NEW."quantity_increment", NEW."rendering", NEW."store_id", NEW."updated", NEW."version", NEW."width_mm"); RETURN NULL;', hash='ee42520b95d323a53aabc7380ecc3393e79891a5', operation='INSERT', pgid='pgtrigger_insert_insert_57d3d', table='stores_product', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='product',
                trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."api_key" IS DISTINCT FROM (NEW."api_key") OR OLD."category" IS DISTINCT FROM (NEW."category") OR OLD."created" IS DISTINCT FROM (NEW."created") OR OLD."default_quantity" IS DISTINCT FROM (NEW."default_quantity") OR OLD."delivery_method" IS DISTINCT FROM (NEW."delivery_method") OR OLD."description" IS DISTINCT FROM (NEW."description") OR OLD."external_id" IS DISTINCT FROM (NEW."external_id") OR OLD."height_mm" IS DISTINCT FROM (NEW."height_mm") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."image_url" IS DISTINCT FROM (NEW."image_url") OR OLD."is_active" IS DISTINCT FROM (NEW."is_active") OR OLD."is_eddm" IS DISTINCT FROM (NEW."is_eddm") OR OLD."maximum_quantity" IS DISTINCT FROM (NEW."maximum_quantity") OR OLD."minimum_quantity" IS DISTINCT FROM (NEW."minimum_quantity") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."page_count" IS DISTINCT FROM (NEW."page_count") OR OLD."position" IS DISTINCT FROM (NEW."position") OR OLD."preset_id" IS DISTINCT FROM (NEW."preset_id") OR OLD."quantity_increment" IS DISTINCT FROM (NEW."quantity_increment") OR OLD."rendering" IS DISTINCT FROM (NEW."rendering") OR OLD."store_id" IS DISTINCT FROM (NEW."store_id") OR OLD."updated" IS DISTINCT FROM (NEW."updated") OR OLD."version" IS DISTINCT FROM (NEW."version") OR OLD."width_mm" IS DISTINCT FROM (NEW."width_mm"))', func='INSERT INTO "stores_productevent" ("api_key", "category", "created", "default_quantity", "delivery_method", "description", "external_id", "height_mm", "id", "image_url", "is_active", "is_eddm", "maximum_quantity", "minimum_quantity", "name", "page_count", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "preset_id", "quantity_increment", "rendering", "store_id", "updated", "version", "width_mm") VALUES (NEW."api_key", NEW."category", NEW."created", NEW."default_quantity", NEW."delivery_method", NEW."description", NEW."external_id", NEW."height_mm", NEW."id", NEW."image_url", NEW."is_active", NEW."is_eddm", NEW."maximum_quantity", NEW."minimum_quantity", NEW."name", NEW."page_count", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."position", NEW."preset_id", NEW."quantity_increment", NEW."rendering", NEW."store_id", NEW."updated", NEW."version", NEW."width_mm"); RETURN NULL;', hash='0e02789bc91f4ceead0f267762d9ebe2a99b9cc0', operation='UPDATE', pgid='pgtrigger_update_update_c60e1', table='stores_product', when='AFTER')),
            ),
            pgtrigger.migrations.AddTrigger(
                model_name='product',
                trigger=pgtrigger.compiler.Trigger(name='delete_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "stores_productevent" ("api_key", "category", "created", "default_quantity", "delivery_method", "description", "external_id", "height_mm", "id", "image_url", "is_active", "is_eddm", "maximum_quantity", "minimum_quantity", "name", "page_count", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "preset_id", "quantity_increment", "rendering", "store_id", "updated", "version", "width_mm") VALUES (OLD."api_key", OLD."category", OLD."created", OLD."default_quantity", OLD."delivery_method", OLD."description", OLD."external_id", OLD."height_mm", OLD."id", OLD."image_url", OLD."is_active", OLD."is_eddm", OLD."maximum_quantity", OLD."minimum_quantity", OLD."name", OLD."page_count", _pgh_attach_context(), NOW(), \'delete\', OLD."id", OLD."position", OLD."preset_id", OLD."quantity_increment", OLD."rendering", OLD."store_id", OLD."updated", OLD."version", OLD."width_mm"); RETURN NULL;', hash='6bae10a4cdc17cdca2e155a94de56b1033135353', operation='DELETE', pgid='pgtrigger_delete_delete_78324', table='stores_product', when='AFTER')),
            ),
        ]),
    ]
