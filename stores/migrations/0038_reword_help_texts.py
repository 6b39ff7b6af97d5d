"""Clearer help texts and messages: nothing changes in the database."""

import django.core.validators
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('stores', '0037_product_one_sided'),
    ]

    operations = [
        migrations.AlterField(
            model_name='budget',
            name='carry_over',
            field=models.BooleanField(default=False, help_text='Add the unused rest of a period to the next one.'),
        ),
        migrations.AlterField(
            model_name='budget',
            name='end_date',
            field=models.DateField(blank=True, help_text='The last day on which the budget applies. Empty: it has no end.', null=True),
        ),
        migrations.AlterField(
            model_name='budget',
            name='start_date',
            field=models.DateField(help_text="Periods begin on this day, in the store's time zone."),
        ),
        migrations.AlterField(
            model_name='budget',
            name='warn_at',
            field=models.PositiveSmallIntegerField(default=80, help_text='The service notifies staff when this percentage of the limit is used, and again at 100%.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(100)], verbose_name='warn at (%)'),
        ),
        migrations.AlterField(
            model_name='budgetevent',
            name='carry_over',
            field=models.BooleanField(default=False, help_text='Add the unused rest of a period to the next one.'),
        ),
        migrations.AlterField(
            model_name='budgetevent',
            name='end_date',
            field=models.DateField(blank=True, help_text='The last day on which the budget applies. Empty: it has no end.', null=True),
        ),
        migrations.AlterField(
            model_name='budgetevent',
            name='start_date',
            field=models.DateField(help_text="Periods begin on this day, in the store's time zone."),
        ),
        migrations.AlterField(
            model_name='budgetevent',
            name='warn_at',
            field=models.PositiveSmallIntegerField(default=80, help_text='The service notifies staff when this percentage of the limit is used, and again at 100%.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(100)], verbose_name='warn at (%)'),
        ),
        migrations.AlterField(
            model_name='costcenter',
            name='code',
            field=models.CharField(help_text='Budgets and files refer to the cost center by this code. It cannot be changed later.', max_length=64, validators=[django.core.validators.RegexValidator('^[A-Za-z0-9._-]{1,64}\\Z', 'Use 1 to 64 letters, digits and . _ - only.')]),
        ),
        migrations.AlterField(
            model_name='costcenterevent',
            name='code',
            field=models.CharField(help_text='Budgets and files refer to the cost center by this code. It cannot be changed later.', max_length=64, validators=[django.core.validators.RegexValidator('^[A-Za-z0-9._-]{1,64}\\Z', 'Use 1 to 64 letters, digits and . _ - only.')]),
        ),
        migrations.AlterField(
            model_name='printpreset',
            name='bleed_mm',
            field=models.DecimalField(blank=True, decimal_places=3, help_text='The bleed that the printer requires around the trim. Empty: the bleed of each template.', max_digits=5, null=True, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(25)], verbose_name='bleed (mm)'),
        ),
        migrations.AlterField(
            model_name='printpreset',
            name='code',
            field=models.CharField(help_text='Products and catalog files refer to the preset by this ID. It cannot be changed later.', max_length=64, unique=True, validators=[django.core.validators.RegexValidator('^[A-Za-z0-9._-]{1,64}\\Z', 'Use 1 to 64 letters, digits and . _ - only.')], verbose_name='preset ID'),
        ),
        migrations.AlterField(
            model_name='printpreset',
            name='keeps_overprint',
            field=models.BooleanField(db_default=False, default=False, help_text='Applies to artwork PDFs. Proofs do not show overprint.', verbose_name='keeps overprint'),
        ),
        migrations.AlterField(
            model_name='printpreset',
            name='lowest_ppi',
            field=models.PositiveSmallIntegerField(default=150, help_text='The lowest resolution of a picture at its printed size.', validators=[django.core.validators.MinValueValidator(72), django.core.validators.MaxValueValidator(1200)], verbose_name='lowest resolution (ppi)'),
        ),
        migrations.AlterField(
            model_name='printpreset',
            name='profile',
            field=models.ForeignKey(blank=True, help_text='Empty: the included profile, ISO Coated v2 300%.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='presets', to='stores.outputprofile', verbose_name='output profile'),
        ),
        migrations.AlterField(
            model_name='printpreset',
            name='safe_mm',
            field=models.DecimalField(decimal_places=3, default=3, help_text='The distance that text keeps from the trim.', max_digits=5, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(25)], verbose_name='safe distance (mm)'),
        ),
        migrations.AlterField(
            model_name='printpreset',
            name='slug',
            field=models.BooleanField(default=False, help_text='Prints product, page and preset outside the bleed.', verbose_name='slug line'),
        ),
        migrations.AlterField(
            model_name='printpresetevent',
            name='bleed_mm',
            field=models.DecimalField(blank=True, decimal_places=3, help_text='The bleed that the printer requires around the trim. Empty: the bleed of each template.', max_digits=5, null=True, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(25)], verbose_name='bleed (mm)'),
        ),
        migrations.AlterField(
            model_name='printpresetevent',
            name='code',
            field=models.CharField(help_text='Products and catalog files refer to the preset by this ID. It cannot be changed later.', max_length=64, validators=[django.core.validators.RegexValidator('^[A-Za-z0-9._-]{1,64}\\Z', 'Use 1 to 64 letters, digits and . _ - only.')], verbose_name='preset ID'),
        ),
        migrations.AlterField(
            model_name='printpresetevent',
            name='keeps_overprint',
            field=models.BooleanField(db_default=False, default=False, help_text='Applies to artwork PDFs. Proofs do not show overprint.', verbose_name='keeps overprint'),
        ),
        migrations.AlterField(
            model_name='printpresetevent',
            name='lowest_ppi',
            field=models.PositiveSmallIntegerField(default=150, help_text='The lowest resolution of a picture at its printed size.', validators=[django.core.validators.MinValueValidator(72), django.core.validators.MaxValueValidator(1200)], verbose_name='lowest resolution (ppi)'),
        ),
        migrations.AlterField(
            model_name='printpresetevent',
            name='profile',
            field=models.ForeignKey(blank=True, db_constraint=False, help_text='Empty: the included profile, ISO Coated v2 300%.', null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to='stores.outputprofile', verbose_name='output profile'),
        ),
        migrations.AlterField(
            model_name='printpresetevent',
            name='safe_mm',
            field=models.DecimalField(decimal_places=3, default=3, help_text='The distance that text keeps from the trim.', max_digits=5, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(25)], verbose_name='safe distance (mm)'),
        ),
        migrations.AlterField(
            model_name='printpresetevent',
            name='slug',
            field=models.BooleanField(default=False, help_text='Prints product, page and preset outside the bleed.', verbose_name='slug line'),
        ),
        migrations.AlterField(
            model_name='store',
            name='admits_test_applications',
            field=models.BooleanField(db_default=False, default=False, help_text='Approve requests of test applications automatically. Their orders are never produced.', verbose_name='test applications'),
        ),
        migrations.AlterField(
            model_name='storeevent',
            name='admits_test_applications',
            field=models.BooleanField(db_default=False, default=False, help_text='Approve requests of test applications automatically. Their orders are never produced.', verbose_name='test applications'),
        ),
    ]
