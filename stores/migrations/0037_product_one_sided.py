"""Whether each page of a product is the front of a sheet of its own."""


import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("stores", "0036_print_preset_of_items"),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name="product",
            name="insert_insert",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="product",
            name="update_update",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="product",
            name="delete_delete",
        ),
        migrations.AddField(
            model_name="product",
            name="is_one_sided",
            field=models.BooleanField(db_default=False, default=False, verbose_name="printed on one side"),
        ),
        migrations.AddField(
            model_name="productevent",
            name="is_one_sided",
            field=models.BooleanField(db_default=False, default=False, verbose_name="printed on one side"),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="product",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "stores_productevent" ("api_key", "binding", "binding_edge", "category", "coating", "created", "default_quantity", "delivery_method", "description", "external_id", "finish", "folding", "height_mm", "id", "image_url", "is_active", "is_eddm", "is_one_sided", "maximum_quantity", "minimum_quantity", "name", "page_count", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "piece_weight_g", "position", "preset_id", "quantity_increment", "rendering", "stock_code", "stock_weight_gsm", "store_id", "thickness_mm", "updated", "version", "width_mm") VALUES (NEW."api_key", NEW."binding", NEW."binding_edge", NEW."category", NEW."coating", NEW."created", NEW."default_quantity", NEW."delivery_method", NEW."description", NEW."external_id", NEW."finish", NEW."folding", NEW."height_mm", NEW."id", NEW."image_url", NEW."is_active", NEW."is_eddm", NEW."is_one_sided", NEW."maximum_quantity", NEW."minimum_quantity", NEW."name", NEW."page_count", _pgh_attach_context(), NOW(), \'insert\', NEW."id", NEW."piece_weight_g", NEW."position", NEW."preset_id", NEW."quantity_increment", NEW."rendering", NEW."stock_code", NEW."stock_weight_gsm", NEW."store_id", NEW."thickness_mm", NEW."updated", NEW."version", NEW."width_mm"); RETURN NULL;',
                    hash="14e0070a9e43f4a549fcd17270ffa1a1176ba0b3",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_57d3d",
                    table="stores_product",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="product",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."api_key" IS DISTINCT FROM (NEW."api_key") OR OLD."binding" IS DISTINCT FROM (NEW."binding") OR OLD."binding_edge" IS DISTINCT FROM (NEW."binding_edge") OR OLD."category" IS DISTINCT FROM (NEW."category") OR OLD."coating" IS DISTINCT FROM (NEW."coating") OR OLD."created" IS DISTINCT FROM (NEW."created") OR OLD."default_quantity" IS DISTINCT FROM (NEW."default_quantity") OR OLD."delivery_method" IS DISTINCT FROM (NEW."delivery_method") OR OLD."description" IS DISTINCT FROM (NEW."description") OR OLD."external_id" IS DISTINCT FROM (NEW."external_id") OR OLD."finish" IS DISTINCT FROM (NEW."finish") OR OLD."folding" IS DISTINCT FROM (NEW."folding") OR OLD."height_mm" IS DISTINCT FROM (NEW."height_mm") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."image_url" IS DISTINCT FROM (NEW."image_url") OR OLD."is_active" IS DISTINCT FROM (NEW."is_active") OR OLD."is_eddm" IS DISTINCT FROM (NEW."is_eddm") OR OLD."is_one_sided" IS DISTINCT FROM (NEW."is_one_sided") OR OLD."maximum_quantity" IS DISTINCT FROM (NEW."maximum_quantity") OR OLD."minimum_quantity" IS DISTINCT FROM (NEW."minimum_quantity") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."page_count" IS DISTINCT FROM (NEW."page_count") OR OLD."piece_weight_g" IS DISTINCT FROM (NEW."piece_weight_g") OR OLD."position" IS DISTINCT FROM (NEW."position") OR OLD."preset_id" IS DISTINCT FROM (NEW."preset_id") OR OLD."quantity_increment" IS DISTINCT FROM (NEW."quantity_increment") OR OLD."rendering" IS DISTINCT FROM (NEW."rendering") OR OLD."stock_code" IS DISTINCT FROM (NEW."stock_code") OR OLD."stock_weight_gsm" IS DISTINCT FROM (NEW."stock_weight_gsm") OR OLD."store_id" IS DISTINCT FROM (NEW."store_id") OR OLD."thickness_mm" IS DISTINCT FROM (NEW."thickness_mm") OR OLD."updated" IS DISTINCT FROM (NEW."updated") OR OLD."version" IS DISTINCT FROM (NEW."version") OR OLD."width_mm" IS DISTINCT FROM (NEW."width_mm"))',
                    func='INSERT INTO "stores_productevent" ("api_key", "binding", "binding_edge", "category", "coating", "created", "default_quantity", "delivery_method", "description", "external_id", "finish", "folding", "height_mm", "id", "image_url", "is_active", "is_eddm", "is_one_sided", "maximum_quantity", "minimum_quantity", "name", "page_count", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "piece_weight_g", "position", "preset_id", "quantity_increment", "rendering", "stock_code", "stock_weight_gsm", "store_id", "thickness_mm", "updated", "version", "width_mm") VALUES (NEW."api_key", NEW."binding", NEW."binding_edge", NEW."category", NEW."coating", NEW."created", NEW."default_quantity", NEW."delivery_method", NEW."description", NEW."external_id", NEW."finish", NEW."folding", NEW."height_mm", NEW."id", NEW."image_url", NEW."is_active", NEW."is_eddm", NEW."is_one_sided", NEW."maximum_quantity", NEW."minimum_quantity", NEW."name", NEW."page_count", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."piece_weight_g", NEW."position", NEW."preset_id", NEW."quantity_increment", NEW."rendering", NEW."stock_code", NEW."stock_weight_gsm", NEW."store_id", NEW."thickness_mm", NEW."updated", NEW."version", NEW."width_mm"); RETURN NULL;',
                    hash="43b3da7c66311be1591fe7657aa76094bbd08310",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_c60e1",
                    table="stores_product",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="product",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "stores_productevent" ("api_key", "binding", "binding_edge", "category", "coating", "created", "default_quantity", "delivery_method", "description", "external_id", "finish", "folding", "height_mm", "id", "image_url", "is_active", "is_eddm", "is_one_sided", "maximum_quantity", "minimum_quantity", "name", "page_count", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "piece_weight_g", "position", "preset_id", "quantity_increment", "rendering", "stock_code", "stock_weight_gsm", "store_id", "thickness_mm", "updated", "version", "width_mm") VALUES (OLD."api_key", OLD."binding", OLD."binding_edge", OLD."category", OLD."coating", OLD."created", OLD."default_quantity", OLD."delivery_method", OLD."description", OLD."external_id", OLD."finish", OLD."folding", OLD."height_mm", OLD."id", OLD."image_url", OLD."is_active", OLD."is_eddm", OLD."is_one_sided", OLD."maximum_quantity", OLD."minimum_quantity", OLD."name", OLD."page_count", _pgh_attach_context(), NOW(), \'delete\', OLD."id", OLD."piece_weight_g", OLD."position", OLD."preset_id", OLD."quantity_increment", OLD."rendering", OLD."stock_code", OLD."stock_weight_gsm", OLD."store_id", OLD."thickness_mm", OLD."updated", OLD."version", OLD."width_mm"); RETURN NULL;',
                    hash="3764be424b3309ad1c2b24e1669f74a1de7db5c6",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_78324",
                    table="stores_product",
                    when="AFTER",
                ),
            ),
        ),
    ]
