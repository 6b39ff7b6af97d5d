from django.db import migrations, models


class Migration(migrations.Migration):
    """Renames a field of the model only: its column keeps its name, so no statement is run."""

    dependencies = [
        ('production', '0012_sheets_of_gang_sheet'),
    ]

    operations = [
        migrations.AlterField(
            model_name='attempt',
            name='answer',
            field=models.TextField(blank=True, db_column='answer'),
        ),
        migrations.RenameField(
            model_name='attempt',
            old_name='answer',
            new_name='response',
        ),
    ]
