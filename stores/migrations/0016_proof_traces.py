import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("stores", "0015_external_ids_of_users")]

    operations = [
        migrations.AddField(
            model_name="proof",
            name="traces",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=24), editable=False, null=True, size=None
            ),
        ),
    ]
