from django.db import migrations


class Migration(migrations.Migration):
    """Order numbers: unique across stores, and never waiting for another order."""

    dependencies = [("stores", "0004_quotes_and_orders")]

    operations = [
        migrations.RunSQL(
            "CREATE SEQUENCE stores_order_number START WITH 10000001",
            "DROP SEQUENCE stores_order_number",
        )
    ]
