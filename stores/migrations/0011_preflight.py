from django.db import migrations, models


class Migration(migrations.Migration):
    """Findings of preflight beside proofs and order items. The columns are empty in rows that were there before."""

    dependencies = [
        ('stores', '0010_products_of_preset'),
    ]

    operations = [
        migrations.AddField(
            model_name='orderitem',
            name='preflight',
            field=models.JSONField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name='proof',
            name='preflight',
            field=models.JSONField(editable=False, null=True),
        ),
    ]
