from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("applications", "0006_webhook_events")]

    operations = [
        migrations.AddField("event", "user_id", models.UUIDField(editable=False, null=True)),
    ]
