"""Clearer help texts and messages: nothing changes in the database."""

import django.core.validators
from decimal import Decimal
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('delivery', '0005_papers'),
    ]

    operations = [
        migrations.AlterField(
            model_name='postageprice',
            name='note',
            field=models.CharField(blank=True, help_text='For example, the source of the price.', max_length=200),
        ),
        migrations.AlterField(
            model_name='postageprice',
            name='per_piece',
            field=models.DecimalField(decimal_places=4, help_text="In US dollars, with at most 4 decimals, as in the Postal Service's price list (Notice 123).", max_digits=7, validators=[django.core.validators.MinValueValidator(Decimal('0.0001'))], verbose_name='price of a piece'),
        ),
        migrations.AlterField(
            model_name='postagepriceevent',
            name='note',
            field=models.CharField(blank=True, help_text='For example, the source of the price.', max_length=200),
        ),
        migrations.AlterField(
            model_name='postagepriceevent',
            name='per_piece',
            field=models.DecimalField(decimal_places=4, help_text="In US dollars, with at most 4 decimals, as in the Postal Service's price list (Notice 123).", max_digits=7, validators=[django.core.validators.MinValueValidator(Decimal('0.0001'))], verbose_name='price of a piece'),
        ),
    ]
