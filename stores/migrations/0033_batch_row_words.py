from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("stores", "0032_batch_row_counts")]

    operations = [
        migrations.AddField(
            model_name="batch",
            name="checked_before",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="batchrow",
            name="words",
            field=models.TextField(blank=True, db_default=""),
        ),
    ]
