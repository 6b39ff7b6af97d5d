import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations

# Orders were counted in each store, test orders from the lowest number. Releases before this one write the columns
# and need them: they stay, may be empty, and are dropped when no process of such a release can be running.
RELEASE = """
ALTER TABLE stores_order ALTER position DROP NOT NULL;
ALTER TABLE stores_orderevent ALTER position DROP NOT NULL;
ALTER TABLE stores_orderitem ALTER order_position DROP NOT NULL;
ALTER TABLE stores_orderitemevent ALTER order_position DROP NOT NULL;
"""
# Counted anew, without entries in the audit trail.
RESTORE = """
SET LOCAL statement_timeout = 0;
ALTER TABLE stores_order DISABLE TRIGGER USER;
ALTER TABLE stores_orderitem DISABLE TRIGGER USER;
UPDATE stores_order SET position = NULL;
UPDATE stores_order o SET position = counted.position FROM (
    SELECT id, (CASE WHEN is_test THEN -2147483648 ELSE 0 END)
               + row_number() OVER (PARTITION BY store_id, is_test ORDER BY created, id) AS position
    FROM stores_order
) counted WHERE counted.id = o.id;
UPDATE stores_orderitem i SET order_position = o.position FROM stores_order o WHERE o.id = i.order_id;
UPDATE stores_orderevent e SET position = coalesce(
    (SELECT o.position FROM stores_order o WHERE o.id = e.id), 0) WHERE position IS NULL;
UPDATE stores_orderitemevent e SET order_position = coalesce(
    (SELECT i.order_position FROM stores_orderitem i WHERE i.id = e.id), 0) WHERE order_position IS NULL;
ALTER TABLE stores_order ENABLE TRIGGER USER;
ALTER TABLE stores_orderitem ENABLE TRIGGER USER;
ALTER TABLE stores_order ALTER position SET NOT NULL;
ALTER TABLE stores_orderevent ALTER position SET NOT NULL;
ALTER TABLE stores_orderitem ALTER order_position SET NOT NULL;
ALTER TABLE stores_orderitemevent ALTER order_position SET NOT NULL;
"""


class Migration(migrations.Migration):
    """Pages of orders are cut by `created`. The release before still works beside this, with slower exports."""

    dependencies = [("stores", "0015_export_indexes")]

    operations = [
        migrations.AlterModelOptions(
            name='order',
            options={'ordering': ['store', 'created', 'id']},
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='order',
            name='update_update',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='order',
            name='delete_delete',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='orderitem',
            name='update_update',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='orderitem',
            name='delete_delete',
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(RELEASE, RESTORE)],
            state_operations=[
                migrations.RemoveConstraint(
                    model_name='order',
                    name='order_position_unique',
                ),
                migrations.RemoveConstraint(
                    model_name='order',
                    name='order_test_position',
                ),
                migrations.RemoveField(
                    model_name='order',
                    name='position',
                ),
                migrations.RemoveField(
                    model_name='orderevent',
                    name='position',
                ),
                migrations.RemoveField(
                    model_name='orderitem',
                    name='order_position',
                ),
                migrations.RemoveField(
                    model_name='orderitemevent',
                    name='order_position',
                ),
            ],
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='order',
            trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD.* IS DISTINCT FROM NEW.*)', func='INSERT INTO "stores_orderevent" ("application_id", "cancellable_until", "cancellation", "cancellation_asked", "created", "currency", "delivery_method_code", "delivery_total", "earliest_delivery", "external_id", "id", "item_count", "items_total", "latest_delivery", "number", "option_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "product_ids", "production_days", "quote_id", "recipient_erased", "reprint_of_id", "sequence", "status", "store_id", "total", "total_quantity", "tracking_numbers", "updated", "user_id") VALUES (NEW."application_id", NEW."cancellable_until", NEW."cancellation", NEW."cancellation_asked", NEW."created", NEW."currency", NEW."delivery_method_code", NEW."delivery_total", NEW."earliest_delivery", NEW."external_id", NEW."id", NEW."item_count", NEW."items_total", NEW."latest_delivery", NEW."number", NEW."option_id", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."product_ids", NEW."production_days", NEW."quote_id", NEW."recipient_erased", NEW."reprint_of_id", NEW."sequence", NEW."status", NEW."store_id", NEW."total", NEW."total_quantity", NEW."tracking_numbers", NEW."updated", NEW."user_id"); RETURN NULL;', hash='1b18e5d5216089373c99e1fe9b7be7851cb1f08c', operation='UPDATE', pgid='pgtrigger_update_update_b983c', table='stores_order', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='order',
            trigger=pgtrigger.compiler.Trigger(name='delete_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "stores_orderevent" ("application_id", "cancellable_until", "cancellation", "cancellation_asked", "created", "currency", "delivery_method_code", "delivery_total", "earliest_delivery", "external_id", "id", "item_count", "items_total", "latest_delivery", "number", "option_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "product_ids", "production_days", "quote_id", "recipient_erased", "reprint_of_id", "sequence", "status", "store_id", "total", "total_quantity", "tracking_numbers", "updated", "user_id") VALUES (OLD."application_id", OLD."cancellable_until", OLD."cancellation", OLD."cancellation_asked", OLD."created", OLD."currency", OLD."delivery_method_code", OLD."delivery_total", OLD."earliest_delivery", OLD."external_id", OLD."id", OLD."item_count", OLD."items_total", OLD."latest_delivery", OLD."number", OLD."option_id", _pgh_attach_context(), NOW(), \'delete\', OLD."id", OLD."product_ids", OLD."production_days", OLD."quote_id", OLD."recipient_erased", OLD."reprint_of_id", OLD."sequence", OLD."status", OLD."store_id", OLD."total", OLD."total_quantity", OLD."tracking_numbers", OLD."updated", OLD."user_id"); RETURN NULL;', hash='2e379bf134263783851b575269c2569bb17ffb92', operation='DELETE', pgid='pgtrigger_delete_delete_6d870', table='stores_order', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='orderitem',
            trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD.* IS DISTINCT FROM NEW.*)', func='INSERT INTO "stores_orderitemevent" ("id", "item_key", "line_total", "order_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "print_bytes", "print_file", "print_sha256", "product_external_id", "product_id", "product_name", "product_version", "quantity", "unit_price") VALUES (NEW."id", NEW."item_key", NEW."line_total", NEW."order_id", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."position", NEW."print_bytes", NEW."print_file", NEW."print_sha256", NEW."product_external_id", NEW."product_id", NEW."product_name", NEW."product_version", NEW."quantity", NEW."unit_price"); RETURN NULL;', hash='e068c0de5094bdcf4de167340c68573c3bdcd091', operation='UPDATE', pgid='pgtrigger_update_update_26420', table='stores_orderitem', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='orderitem',
            trigger=pgtrigger.compiler.Trigger(name='delete_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "stores_orderitemevent" ("id", "item_key", "line_total", "order_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "print_bytes", "print_file", "print_sha256", "product_external_id", "product_id", "product_name", "product_version", "quantity", "unit_price") VALUES (OLD."id", OLD."item_key", OLD."line_total", OLD."order_id", _pgh_attach_context(), NOW(), \'delete\', OLD."id", OLD."position", OLD."print_bytes", OLD."print_file", OLD."print_sha256", OLD."product_external_id", OLD."product_id", OLD."product_name", OLD."product_version", OLD."quantity", OLD."unit_price"); RETURN NULL;', hash='a01b048d17f9ce581d3df40fb890378baf31f5a6', operation='DELETE', pgid='pgtrigger_delete_delete_20b45', table='stores_orderitem', when='AFTER')),
        ),
    ]
