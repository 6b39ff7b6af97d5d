from django.db import migrations


class Migration(migrations.Migration):
    """Removes the model only: the release before writes to its table, which a later release drops."""

    dependencies = [
        ('accounts', '0006_email_change_requested'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.DeleteModel(name='SecretGeneration')],
        ),
    ]
