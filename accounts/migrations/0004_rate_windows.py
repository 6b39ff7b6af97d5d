import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0003_idempotent_answers"),
    ]

    operations = [
        migrations.CreateModel(
            name="RateWindow",
            fields=[
                ("bucket", models.CharField(max_length=100, primary_key=True, serialize=False)),
                ("started", models.DateTimeField()),
                ("used", models.IntegerField()),
            ],
        ),
        # Written with every request: nothing to recover, and room on each page for the next version of a row.
        migrations.RunSQL(
            "ALTER TABLE accounts_ratewindow SET UNLOGGED; "
            "ALTER TABLE accounts_ratewindow SET (fillfactor = 50, autovacuum_vacuum_threshold = 1000)",
            migrations.RunSQL.noop,
        ),
        migrations.AlterField(
            model_name="subscription",
            name="requests_per_minute",
            field=models.PositiveIntegerField(
                default=600,
                help_text="What is above is answered 429. A change holds from the next request on.",
                validators=[
                    django.core.validators.MinValueValidator(1),
                    django.core.validators.MaxValueValidator(1000000),
                ],
            ),
        ),
        migrations.AlterField(
            model_name="subscriptionevent",
            name="requests_per_minute",
            field=models.PositiveIntegerField(
                default=600,
                help_text="What is above is answered 429. A change holds from the next request on.",
                validators=[
                    django.core.validators.MinValueValidator(1),
                    django.core.validators.MaxValueValidator(1000000),
                ],
            ),
        ),
    ]
