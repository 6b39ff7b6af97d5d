import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('applications', '0002_keys_and_webhooks'),
    ]

    operations = [
        migrations.CreateModel(
            name='Milestone',
            fields=[
                ('pk', models.CompositePrimaryKey('application_id', 'name', blank=True, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=20)),
                ('reached', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('application', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='milestones', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
            ],
        ),
    ]
