import django.contrib.postgres.search
import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

# Words are cut at everything that is no letter and no digit. A word with a digit begins with #, so that the beginning
# of a word of letters never runs through a million different numbers. Of an e-mail address the end, such as .com, is
# left out: it would be in every order.
WORDS = r"""
CREATE FUNCTION fulfillment_search_words(text text) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT coalesce(array_agg(DISTINCT CASE WHEN word ~ '[0-9]' THEN '#' || left(word, 60) ELSE left(word, 60) END), '{}')
    FROM regexp_split_to_table(
        translate(
            replace(replace(replace(
                regexp_replace(
                    lower(normalize(regexp_replace(text, '(@\S+)\.\S*', '\1 ', 'g'), NFKD)),
                    '[\u0300-\u036f''’]', '', 'g'
                ), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'),
            'øłđıð', 'oldid'
        ),
        '[\u0001-\u002f\u003a-\u0060\u007b-\u00bf\u2000-\u206f\u3000-\u303f]+'
    ) AS word WHERE word <> ''
$$
"""
# The last one or two digits of a number may be missing. Words that begin with = name who may see the order.
ORDER_WORDS = r"""
CREATE FUNCTION fulfillment_order_words(wanted stores_order) RETURNS tsvector LANGUAGE sql STABLE AS $$
    WITH found AS (
        SELECT unnest(fulfillment_search_words(concat_ws(' ',
            wanted.number,
            wanted.external_id,
            CASE WHEN wanted.recipient_erased IS NULL THEN concat_ws(' ',
                wanted.recipient ->> 'Name',
                wanted.recipient ->> 'Company',
                wanted.recipient ->> 'Email',
                wanted.recipient ->> 'City',
                wanted.recipient ->> 'PostalCode',
                replace(wanted.recipient ->> 'PostalCode', ' ', '')
            ) END,
            array_to_string(wanted.tracking_numbers, ' '),
            array_to_string(wanted.product_ids, ' '),
            coalesce(
                (SELECT string_agg(product_name, ' ') FROM stores_orderitem WHERE order_id = wanted.id),
                (SELECT string_agg(name, ' ') FROM stores_product
                 WHERE store_id = wanted.store_id AND external_id = ANY (wanted.product_ids))
            )
        ))) AS word
    )
    SELECT array_to_tsvector(array_agg(DISTINCT word)) FROM (
        SELECT word FROM found
        UNION ALL SELECT left(word, -1) FROM found WHERE word LIKE '#_____%'
        UNION ALL SELECT left(word, -2) FROM found WHERE word LIKE '#_____%'
        UNION ALL SELECT substring(word FROM '^#([^0-9]{2,})') FROM found WHERE word ~ '^#[^0-9]{2}'
        UNION ALL SELECT '=s' || wanted.store_id
        UNION ALL SELECT '=a' || wanted.application_id WHERE wanted.application_id IS NOT NULL
        UNION ALL SELECT '=u' || wanted.user_id WHERE wanted.user_id IS NOT NULL
    ) AS every
$$
"""
# Always along the index of the words: where the planner expects many orders it would read the whole table.
FIND = """
CREATE FUNCTION fulfillment_find_orders(wanted tsquery, most integer) RETURNS SETOF uuid
LANGUAGE sql STABLE SET enable_seqscan = off AS $$
    SELECT order_id FROM stores_ordersearch WHERE words @@ wanted LIMIT most
$$
"""
WRITE = '\nINSERT INTO stores_ordersearch (order_id, words) VALUES (NEW.id, fulfillment_order_words(NEW))\nON CONFLICT (order_id) DO UPDATE SET words = excluded.words;\nRETURN NULL;\n'

# The triggers write as the role that writes orders. Default privileges of a second role do not let it update new tables, and the
# release before this one runs on while the migrations do.
PRIVILEGES = """
DO $$ DECLARE writer name; BEGIN
    FOR writer IN
        SELECT DISTINCT grantee FROM information_schema.role_table_grants
        WHERE table_schema = current_schema AND table_name = 'stores_order' AND privilege_type = 'UPDATE'
          AND grantee NOT IN (current_user, 'PUBLIC')
    LOOP
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON stores_ordersearch TO %I', writer);
    END LOOP;
END $$
"""


class Migration(migrations.Migration):

    dependencies = [
        ('stores', '0026_budget_reservation_index'),
    ]

    operations = [
        migrations.CreateModel(
            name='OrderSearch',
            fields=[
                ('order', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, primary_key=True, related_name='+', serialize=False, to='stores.order')),
                ('words', django.contrib.postgres.search.SearchVectorField()),
            ],
        ),
        migrations.RunSQL(PRIVILEGES, migrations.RunSQL.noop),
        migrations.RunSQL(WORDS, 'DROP FUNCTION fulfillment_search_words'),
        migrations.RunSQL(ORDER_WORDS, 'DROP FUNCTION fulfillment_order_words'),
        migrations.RunSQL(FIND, 'DROP FUNCTION fulfillment_find_orders'),
        pgtrigger.migrations.AddTrigger(
            model_name='order',
            trigger=pgtrigger.compiler.Trigger(name='search_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func=WRITE, hash='c015c694361b1dde87589f57cac9b2eccc354855', operation='INSERT', pgid='pgtrigger_search_insert_c8131', table='stores_order', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='order',
            trigger=pgtrigger.compiler.Trigger(name='search_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."application_id" IS DISTINCT FROM (NEW."application_id") OR OLD."external_id" IS DISTINCT FROM (NEW."external_id") OR OLD."recipient" IS DISTINCT FROM (NEW."recipient") OR OLD."recipient_erased" IS DISTINCT FROM (NEW."recipient_erased") OR OLD."store_id" IS DISTINCT FROM (NEW."store_id") OR OLD."tracking_numbers" IS DISTINCT FROM (NEW."tracking_numbers") OR OLD."user_id" IS DISTINCT FROM (NEW."user_id"))', func=WRITE, hash='be037a9523b70cc13fd8d222058370d8685e385d', operation='UPDATE', pgid='pgtrigger_search_update_e7998', table='stores_order', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='order',
            trigger=pgtrigger.compiler.Trigger(name='search_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='DELETE FROM stores_ordersearch WHERE order_id = OLD.id; RETURN NULL;', hash='a2afa5e12e3ecf1ef2e88db359e258e63ba664dd', operation='DELETE', pgid='pgtrigger_search_delete_77b17', table='stores_order', when='AFTER')),
        ),
    ]
