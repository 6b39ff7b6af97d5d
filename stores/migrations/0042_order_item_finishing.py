from django.db import migrations, models


class Migration(migrations.Migration):
    """Paper, sides, binding and folding that an order item was ordered with. The column is empty in earlier rows."""

    dependencies = [
        ("stores", "0041_options_of_items"),
    ]

    operations = [
        migrations.AddField(
            model_name="orderitem",
            name="finishing",
            field=models.JSONField(blank=True, editable=False, null=True),
        ),
    ]
