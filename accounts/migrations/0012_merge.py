from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0009_secret_generations"),
        ("accounts", "0010_email_confirmation_indexes"),
        ("accounts", "0011_unique_prepared_names"),
    ]
    operations = []
