from django.db import migrations

BATCH = 2000
# The order is locked against deletion alone: its search row would stay behind. Rows that the triggers wrote are newer.
FILL = """
WITH batch AS (
    SELECT number FROM stores_order WHERE number > %(after)s ORDER BY number LIMIT %(batch)s
), written AS (
    INSERT INTO stores_ordersearch (order_id, words)
    SELECT one.id, fulfillment_order_words(one) FROM (
        SELECT * FROM stores_order WHERE number IN (SELECT number FROM batch) FOR KEY SHARE
    ) AS one
    ON CONFLICT (order_id) DO NOTHING
)
SELECT max(number) FROM batch
"""


def fill(apps, schema_editor):
    """In batches, each committed: nothing waits for more than one of them."""
    after = -1
    with schema_editor.connection.cursor() as cursor:
        while after is not None:
            cursor.execute(FILL, {"after": after, "batch": BATCH})
            (after,) = cursor.fetchone()


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('stores', '0026_order_search'),
    ]

    operations = [
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
