from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("stores", "0005_order_numbers")]

    operations = [
        migrations.AddField(
            model_name="order",
            name="recipient_erased",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
    ]
