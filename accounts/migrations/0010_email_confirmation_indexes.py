from django.db import migrations, models
from django.db.models.functions import Lower

from fulfillment.core.db.index_builds import BuildIndexConcurrently


class Migration(migrations.Migration):
    """Built while people go on signing in."""

    atomic = False
    dependencies = [("accounts", "0009_email_confirmation")]

    operations = [
        BuildIndexConcurrently(
            "user",
            models.Index(
                Lower("email"),
                condition=models.Q(email_confirmed__isnull=False),
                name="user_confirmed_email_lower",
            ),
        ),
        BuildIndexConcurrently(
            "user",
            models.Index(
                models.F("counted_on"),
                models.F("created"),
                condition=models.Q(counted_on__isnull=False),
                name="user_accounts_of_a_day",
            ),
        ),
    ]
