from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('stores', '0028_order_search_index'),
    ]

    operations = [
        migrations.AddField(
            model_name='orderday',
            name='amount',
            field=models.DecimalField(db_default=0, decimal_places=2, max_digits=16),
        ),
    ]
