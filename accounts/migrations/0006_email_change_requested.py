from django.db import migrations, models


class Migration(migrations.Migration):
    """Renames a field of the model only: its column keeps its name, so no statement is run."""

    dependencies = [
        ('accounts', '0005_job_failed_notification'),
    ]

    operations = [
        migrations.AlterField(
            model_name='emailchange',
            name='asked',
            field=models.DateTimeField(db_column='asked'),
        ),
        migrations.RenameField(
            model_name='emailchange',
            old_name='asked',
            new_name='requested',
        ),
    ]
