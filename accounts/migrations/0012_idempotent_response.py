from django.db import migrations


class Migration(migrations.Migration):
    """Renames the model only: its table keeps its name, so no statement is run."""

    dependencies = [
        ('accounts', '0011_user_language'),
        ('contenttypes', '0002_remove_content_type_name'),
    ]

    operations = [
        migrations.AlterModelTable(
            name='idempotentanswer',
            table='accounts_idempotentanswer',
        ),
        migrations.RenameModel(
            old_name='IdempotentAnswer',
            new_name='IdempotentResponse',
        ),
    ]
