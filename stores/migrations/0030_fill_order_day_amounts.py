from django.db import migrations

# By itself, so that no order waits for the lock of the column. Nothing shows earlier days.
FILL = """
UPDATE stores_orderday AS known SET amount = counted.amount FROM (
    SELECT o.store_id, (o.created AT TIME ZONE s.time_zone)::date AS day, sum(o.total) AS amount
    FROM stores_order o JOIN stores_store s ON s.id = o.store_id
    WHERE NOT o.is_test AND o.created > now() - interval '35 days' GROUP BY 1, 2
) counted WHERE known.store_id = counted.store_id AND known.day = counted.day
"""


class Migration(migrations.Migration):

    dependencies = [
        ('stores', '0029_order_day_amounts'),
    ]

    operations = [
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
