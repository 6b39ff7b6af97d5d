"""The application that ordered a batch."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("stores", "0039_batch_approval_trail"),
    ]

    operations = [
        migrations.AddField(
            model_name="batch",
            name="actor_application",
            field=models.UUIDField(null=True),
        ),
    ]
