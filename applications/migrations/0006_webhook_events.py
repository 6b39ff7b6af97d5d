import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    """Renames a reverse relation, which the database does not have."""

    dependencies = [
        ("applications", "0005_test_applications"),
    ]

    operations = [
        migrations.AlterField(
            model_name="event",
            name="application",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="webhook_events",
                to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL,
            ),
        ),
    ]
