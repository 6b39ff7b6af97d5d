import django.contrib.postgres.fields
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0008_budgets'),
        ('stores', '0018_budgets'),
        migrations.swappable_dependency(settings.OAUTH2_PROVIDER_APPLICATION_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='role',
            name='role_grant_known',
        ),
        migrations.AlterField(
            model_name='associationrequest',
            name='grants',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('Application.All.Read', 'Application.All.Read'), ('Application.Self.Read', 'Application.Self.Read'), ('Application.All.Write', 'Application.All.Write'), ('Application.Self.Write', 'Application.Self.Write'), ('Store.All.Read', 'Store.All.Read'), ('Store.Self.Read', 'Store.Self.Read'), ('Order.All.Read', 'Order.All.Read'), ('Order.Self.Read', 'Order.Self.Read'), ('Order.All.Write', 'Order.All.Write'), ('Order.Self.Write', 'Order.Self.Write'), ('Order.All.Approve', 'Order.All.Approve'), ('Budget.All.Write', 'Budget.All.Write')], max_length=32), blank=True, default=list, size=None),
        ),
        migrations.AlterField(
            model_name='associationrequestevent',
            name='grants',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('Application.All.Read', 'Application.All.Read'), ('Application.Self.Read', 'Application.Self.Read'), ('Application.All.Write', 'Application.All.Write'), ('Application.Self.Write', 'Application.Self.Write'), ('Store.All.Read', 'Store.All.Read'), ('Store.Self.Read', 'Store.Self.Read'), ('Order.All.Read', 'Order.All.Read'), ('Order.Self.Read', 'Order.Self.Read'), ('Order.All.Write', 'Order.All.Write'), ('Order.Self.Write', 'Order.Self.Write'), ('Order.All.Approve', 'Order.All.Approve'), ('Budget.All.Write', 'Budget.All.Write')], max_length=32), blank=True, default=list, size=None),
        ),
        migrations.AlterField(
            model_name='notification',
            name='kind',
            field=models.CharField(choices=[('request_decided', 'A request for a store or an application is decided'), ('key_ending', 'A key of an application ends in 30, 7 or 1 days'), ('webhook_failing', 'A webhook fails or is disabled'), ('owner_invited', 'A new owner is invited to an application'), ('quota_near', 'A rate limit is used to 80%'), ('job_failed', 'A print job of one of your stores fails'), ('approval_requested', 'An order of one of your stores needs your approval'), ('approval_decided', 'An order of yours is approved, denied or expired'), ('budget_used', 'A budget of one of your stores is nearly or fully used'), ('new_sign_in', 'Your account is used in a browser it was not used in before')], max_length=20),
        ),
        migrations.AlterField(
            model_name='notificationpreference',
            name='kind',
            field=models.CharField(choices=[('request_decided', 'A request for a store or an application is decided'), ('key_ending', 'A key of an application ends in 30, 7 or 1 days'), ('webhook_failing', 'A webhook fails or is disabled'), ('owner_invited', 'A new owner is invited to an application'), ('quota_near', 'A rate limit is used to 80%'), ('job_failed', 'A print job of one of your stores fails'), ('approval_requested', 'An order of one of your stores needs your approval'), ('approval_decided', 'An order of yours is approved, denied or expired'), ('budget_used', 'A budget of one of your stores is nearly or fully used'), ('new_sign_in', 'Your account is used in a browser it was not used in before')], max_length=20),
        ),
        migrations.AlterField(
            model_name='role',
            name='grant',
            field=models.CharField(choices=[('Application.All.Read', 'Application.All.Read'), ('Application.Self.Read', 'Application.Self.Read'), ('Application.All.Write', 'Application.All.Write'), ('Application.Self.Write', 'Application.Self.Write'), ('Store.All.Read', 'Store.All.Read'), ('Store.Self.Read', 'Store.Self.Read'), ('Order.All.Read', 'Order.All.Read'), ('Order.Self.Read', 'Order.Self.Read'), ('Order.All.Write', 'Order.All.Write'), ('Order.Self.Write', 'Order.Self.Write'), ('Order.All.Approve', 'Order.All.Approve'), ('Budget.All.Write', 'Budget.All.Write')], max_length=32),
        ),
        migrations.AlterField(
            model_name='roleevent',
            name='grant',
            field=models.CharField(choices=[('Application.All.Read', 'Application.All.Read'), ('Application.Self.Read', 'Application.Self.Read'), ('Application.All.Write', 'Application.All.Write'), ('Application.Self.Write', 'Application.Self.Write'), ('Store.All.Read', 'Store.All.Read'), ('Store.Self.Read', 'Store.Self.Read'), ('Order.All.Read', 'Order.All.Read'), ('Order.Self.Read', 'Order.Self.Read'), ('Order.All.Write', 'Order.All.Write'), ('Order.Self.Write', 'Order.Self.Write'), ('Order.All.Approve', 'Order.All.Approve'), ('Budget.All.Write', 'Budget.All.Write')], max_length=32),
        ),
        migrations.AddConstraint(
            model_name='role',
            constraint=models.CheckConstraint(condition=models.Q(('grant__in', ['Application.All.Read', 'Application.Self.Read', 'Application.All.Write', 'Application.Self.Write', 'Store.All.Read', 'Store.Self.Read', 'Order.All.Read', 'Order.Self.Read', 'Order.All.Write', 'Order.Self.Write', 'Order.All.Approve', 'Budget.All.Write'])), name='role_grant_known'),
        ),
    ]
