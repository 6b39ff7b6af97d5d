"""Clearer help texts and messages: nothing changes in the database."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('applications', '0008_event_user_index'),
    ]

    operations = [
        migrations.AlterField(
            model_name='application',
            name='is_first_party',
            field=models.BooleanField(default=False, help_text="Part of this service. It needs no association with a store: only the user's own grants count.", verbose_name='first-party'),
        ),
        migrations.AlterField(
            model_name='application',
            name='is_test',
            field=models.BooleanField(db_default=False, default=False, editable=False, help_text='Everything created with its credentials is test data. This cannot be changed.', verbose_name='test application'),
        ),
        migrations.AlterField(
            model_name='applicationevent',
            name='is_first_party',
            field=models.BooleanField(default=False, help_text="Part of this service. It needs no association with a store: only the user's own grants count.", verbose_name='first-party'),
        ),
    ]
