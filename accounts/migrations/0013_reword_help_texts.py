"""Clearer help texts and messages: nothing changes in the database."""

import django.core.validators
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0012_idempotent_response'),
        ('stores', '0038_reword_help_texts'),
        migrations.swappable_dependency(settings.OAUTH2_PROVIDER_APPLICATION_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name='notification',
            name='kind',
            field=models.CharField(choices=[('request_decided', 'A request for a store or an application is decided'), ('key_ending', 'A key of an application ends in 30, 7 or 1 days'), ('webhook_failing', 'A webhook fails or is disabled'), ('owner_invited', 'A new owner is invited to an application'), ('quota_near', 'A rate limit is used to 80%'), ('job_failed', 'A print job of one of your stores fails'), ('approval_requested', 'An order of one of your stores needs your approval'), ('approval_decided', 'Your order is approved or denied, or its approval expires'), ('budget_used', 'A budget of one of your stores is nearly or fully used'), ('new_sign_in', 'Your account is used in a new browser')], max_length=20),
        ),
        migrations.AlterField(
            model_name='notificationpreference',
            name='kind',
            field=models.CharField(choices=[('request_decided', 'A request for a store or an application is decided'), ('key_ending', 'A key of an application ends in 30, 7 or 1 days'), ('webhook_failing', 'A webhook fails or is disabled'), ('owner_invited', 'A new owner is invited to an application'), ('quota_near', 'A rate limit is used to 80%'), ('job_failed', 'A print job of one of your stores fails'), ('approval_requested', 'An order of one of your stores needs your approval'), ('approval_decided', 'Your order is approved or denied, or its approval expires'), ('budget_used', 'A budget of one of your stores is nearly or fully used'), ('new_sign_in', 'Your account is used in a new browser')], max_length=20),
        ),
        migrations.AlterField(
            model_name='subscription',
            name='requests_per_minute',
            field=models.PositiveIntegerField(default=600, help_text='Further requests in the same minute are refused with status 429. A change applies from the next request.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1000000)]),
        ),
        migrations.AlterField(
            model_name='subscriptionevent',
            name='requests_per_minute',
            field=models.PositiveIntegerField(default=600, help_text='Further requests in the same minute are refused with status 429. A change applies from the next request.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1000000)]),
        ),
        migrations.AlterField(
            model_name='user',
            name='is_active',
            field=models.BooleanField(default=True, help_text='Inactive users cannot sign in. Their sessions and tokens stop working immediately.', verbose_name='active'),
        ),
        migrations.AlterField(
            model_name='userevent',
            name='is_active',
            field=models.BooleanField(default=True, help_text='Inactive users cannot sign in. Their sessions and tokens stop working immediately.', verbose_name='active'),
        ),
        migrations.AlterConstraint(
            model_name='role',
            name='role_unique',
            constraint=models.UniqueConstraint(models.F('user'), models.F('application'), models.F('store'), models.F('grant'), name='role_unique', nulls_distinct=False, violation_error_message='This role is already assigned.'),
        ),
        migrations.AlterConstraint(
            model_name='role',
            name='role_joins_something',
            constraint=models.CheckConstraint(condition=models.Q(('user__isnull', False), models.Q(('application__isnull', False), ('store__isnull', False)), _connector='OR'), name='role_joins_something', violation_error_message='A role belongs to a user, or associates an application with a store.'),
        ),
    ]
