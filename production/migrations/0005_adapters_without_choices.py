from django.db import migrations, models


class Migration(migrations.Migration):
    """Changes no column: the kinds of adapters are those that register themselves."""

    dependencies = [("production", "0004_jobs_of_gang_sheet")]

    operations = [
        migrations.AlterField("provider", "adapter", models.CharField(max_length=10)),
        migrations.AlterField("providerevent", "adapter", models.CharField(max_length=10)),
    ]
