from django.db import migrations, models


class Migration(migrations.Migration):
    """The print preset that the file of an order item was made with. The column is empty in earlier rows."""

    dependencies = [
        ("stores", "0035_product_binding_edge"),
    ]

    operations = [
        migrations.AddField(
            model_name="orderitem",
            name="print_preset",
            field=models.JSONField(blank=True, editable=False, null=True),
        ),
    ]
