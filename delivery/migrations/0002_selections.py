import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models

from fulfillment.core.db.first_migrations import CreateTogether


class Migration(migrations.Migration):

    dependencies = [
        ('delivery', '0001_datasets'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        migrations.swappable_dependency(settings.OAUTH2_PROVIDER_APPLICATION_MODEL),
    ]

    operations = [
        CreateTogether([
            migrations.CreateModel(
                name='EddmSelection',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False, verbose_name='SelectionID')),
                    ('is_test', models.BooleanField(db_default=False, default=False, editable=False)),
                    ('created', models.DateTimeField()),
                    ('expires', models.DateTimeField(help_text='Until then it can be quoted and ordered.')),
                    ('is_ordered', models.BooleanField(db_default=False, default=False, editable=False, verbose_name='ordered')),
                    ('vintage', models.DateField(help_text='The first day of the month the counts are of.')),
                    ('is_synthetic', models.BooleanField(default=False, help_text='Invented counts, for trying out.', verbose_name='synthetic')),
                    ('criteria', models.JSONField(default=dict, help_text='The request, as the API took it.')),
                    ('residential_only', models.BooleanField(default=False)),
                    ('route_count', models.PositiveIntegerField(verbose_name='routes')),
                    ('residential', models.PositiveIntegerField()),
                    ('business', models.PositiveIntegerField()),
                    ('pieces', models.PositiveIntegerField(help_text='The residential deliveries, or all of them.')),
                    ('west', models.FloatField(null=True)),
                    ('south', models.FloatField(null=True)),
                    ('east', models.FloatField(null=True)),
                    ('north', models.FloatField(null=True)),
                    ('application', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                    ('dataset', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='delivery.dataset')),
                    ('user', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'verbose_name': 'EDDM selection',
                    'ordering': ['-created'],
                },
            ),
            migrations.CreateModel(
                name='EddmSelectionRoute',
                fields=[
                    ('pk', models.CompositePrimaryKey('selection_id', 'position', blank=True, editable=False, primary_key=True, serialize=False)),
                    ('position', models.PositiveIntegerField(help_text='From 1.')),
                    ('postal_code', models.CharField(max_length=5)),
                    ('carrier_route', models.CharField(help_text='A type letter (C, R, H or B) and three digits.', max_length=4)),
                    ('residential', models.PositiveIntegerField()),
                    ('business', models.PositiveIntegerField()),
                    ('pieces', models.PositiveIntegerField()),
                    ('facility_name', models.CharField(blank=True, max_length=80)),
                    ('median_income', models.PositiveIntegerField(null=True)),
                    ('median_age', models.FloatField(null=True)),
                    ('household_size', models.FloatField(null=True)),
                    ('selection', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='routes', to='delivery.eddmselection')),
                ],
                options={
                    'ordering': ['position'],
                },
            ),
            migrations.AddIndex(
                model_name='eddmselection',
                index=models.Index(fields=['user', '-created'], name='eddm_selection_of_user'),
            ),
            migrations.AddIndex(
                model_name='eddmselection',
                index=models.Index(fields=['application', '-created'], name='eddm_selection_of_app'),
            ),
            migrations.AddIndex(
                model_name='eddmselection',
                index=models.Index(models.F('expires'), condition=models.Q(('is_ordered', False)), name='eddm_selection_expiry'),
            ),
        ]),
    ]
