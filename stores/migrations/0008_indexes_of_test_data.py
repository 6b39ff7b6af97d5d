from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations, models

from fulfillment.core.db.repeatable import AddConstraintNotValid, AddIndexConcurrently

OF_TEST = models.Q(("is_test", True))
SIGNS = models.Q(
    models.Q(("is_test", True), ("position__lt", 0)),
    models.Q(("is_test", False), ("position__gt", 0)),
    _connector="OR",
)


class Migration(migrations.Migration):
    """Built and checked while orders go on coming in."""

    atomic = False
    dependencies = [("stores", "0007_test_applications")]

    operations = [
        # The service's own limits would end the build of a large index.
        migrations.RunSQL("SET statement_timeout = 0; SET lock_timeout = 0", migrations.RunSQL.noop),
        AddIndexConcurrently(
            "order", models.Index(models.F("number"), condition=OF_TEST, name="order_test_by_number")
        ),
        AddIndexConcurrently(
            "quote", models.Index(models.F("created"), condition=OF_TEST, name="quote_of_test")
        ),
        AddIndexConcurrently(
            "asset", models.Index(models.F("last_used"), condition=OF_TEST, name="asset_of_test_by_use")
        ),
        AddIndexConcurrently(
            "proof", models.Index(models.F("last_used"), condition=OF_TEST, name="proof_of_test_by_use")
        ),
        AddConstraintNotValid(
            "order", models.CheckConstraint(condition=SIGNS, name="order_test_position")
        ),
        ValidateConstraint("order", "order_test_position"),
        migrations.RunSQL("RESET statement_timeout; RESET lock_timeout", migrations.RunSQL.noop),
    ]
