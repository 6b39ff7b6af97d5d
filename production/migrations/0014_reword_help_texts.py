"""Clearer help texts and messages: nothing changes in the database."""

import django.contrib.postgres.fields
import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('production', '0013_attempt_response'),
    ]

    operations = [
        migrations.AlterField(
            model_name='provider',
            name='daily_capacity',
            field=models.PositiveIntegerField(blank=True, help_text='Jobs above this limit go to the next provider of the rule, or wait for the next day (UTC). Empty: no limit.', null=True, validators=[django.core.validators.MinValueValidator(1)], verbose_name='jobs per day'),
        ),
        migrations.AlterField(
            model_name='providerevent',
            name='daily_capacity',
            field=models.PositiveIntegerField(blank=True, help_text='Jobs above this limit go to the next provider of the rule, or wait for the next day (UTC). Empty: no limit.', null=True, validators=[django.core.validators.MinValueValidator(1)], verbose_name='jobs per day'),
        ),
        migrations.AlterField(
            model_name='providerreport',
            name='outcome',
            field=models.CharField(choices=[('Applied', 'Applied'), ('Late', 'Late: a newer state is known'), ('Contradiction', 'Contradiction'), ('Unknown', 'Unknown job')], max_length=13),
        ),
        migrations.AlterField(
            model_name='routingchoice',
            name='priority',
            field=models.PositiveSmallIntegerField(default=1, help_text='1 is tried first; the next takes over where a provider is down, full or refuses a job.'),
        ),
        migrations.AlterField(
            model_name='routingchoice',
            name='share',
            field=models.PositiveSmallIntegerField(default=1, help_text='Among providers of the same priority: with 3 and 1, the first gets three jobs of four.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(100)]),
        ),
        migrations.AlterField(
            model_name='routingchoiceevent',
            name='priority',
            field=models.PositiveSmallIntegerField(default=1, help_text='1 is tried first; the next takes over where a provider is down, full or refuses a job.'),
        ),
        migrations.AlterField(
            model_name='routingchoiceevent',
            name='share',
            field=models.PositiveSmallIntegerField(default=1, help_text='Among providers of the same priority: with 3 and 1, the first gets three jobs of four.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(100)]),
        ),
        migrations.AlterField(
            model_name='routingrule',
            name='countries',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=2, validators=[django.core.validators.RegexValidator('^[A-Z]{2}\\Z', 'Use codes of two capital letters.')]), blank=True, default=list, help_text='Destination countries by their codes, such as US, CA. Empty: any.', size=None),
        ),
        migrations.AlterField(
            model_name='routingrule',
            name='position',
            field=models.PositiveIntegerField(default=100, help_text='Rules are tried in this order, smallest number first. The first that matches an item decides.'),
        ),
        migrations.AlterField(
            model_name='routingruleevent',
            name='countries',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=2, validators=[django.core.validators.RegexValidator('^[A-Z]{2}\\Z', 'Use codes of two capital letters.')]), blank=True, default=list, help_text='Destination countries by their codes, such as US, CA. Empty: any.', size=None),
        ),
        migrations.AlterField(
            model_name='routingruleevent',
            name='position',
            field=models.PositiveIntegerField(default=100, help_text='Rules are tried in this order, smallest number first. The first that matches an item decides.'),
        ),
    ]
