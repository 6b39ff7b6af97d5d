from django.db import migrations, models


class Migration(migrations.Migration):
    """The options that an order item was ordered with. The column is empty in earlier rows."""

    dependencies = [
        ("stores", "0040_batch_actor_application"),
    ]

    operations = [
        migrations.AddField(
            model_name="orderitem",
            name="options",
            field=models.JSONField(blank=True, editable=False, null=True),
        ),
    ]
