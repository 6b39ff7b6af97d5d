import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """Only the model is renamed: its table and columns stay."""

    dependencies = [("stores", "0016_orders_by_created")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RenameModel("OrderStory", "TestScenario"),
                migrations.AlterModelTable("testscenario", "stores_orderstory"),
                migrations.AlterModelOptions("testscenario", {}),
                migrations.AlterField(
                    "testscenario",
                    "order",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="scenario",
                        serialize=False,
                        to="stores.order",
                    ),
                ),
            ],
        ),
    ]
