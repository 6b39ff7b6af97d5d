from django.db import migrations, models

from fulfillment.core.db.index_builds import USUAL_LIMITS, WITHOUT_LIMITS


def _build(name: str, definition: str) -> list[str]:
    """Can be repeated: what an interrupted build left under the name makes way."""
    drop = f"DROP INDEX CONCURRENTLY IF EXISTS {name}"
    return [WITHOUT_LIMITS, drop, definition.format(name=name), USUAL_LIMITS]


NEW = _build(
    "user_name_unique", "CREATE UNIQUE INDEX CONCURRENTLY {name} ON accounts_user (tenant_id, prepared_name)"
)
OLD = [
    *_build(
        "user_name_unique_in_tenant",
        "CREATE UNIQUE INDEX CONCURRENTLY {name} ON accounts_user (tenant_id, lower(username))",
    ),
    *_build("user_name_lower", "CREATE INDEX CONCURRENTLY {name} ON accounts_user (lower(username))"),
]


class Migration(migrations.Migration):
    """Beside the running service: people sign in while the index is made."""

    atomic = False
    dependencies = [("accounts", "0010_fill_prepared_names")]

    operations = [
        migrations.RunSQL(
            NEW,
            "DROP INDEX CONCURRENTLY IF EXISTS user_name_unique",
            state_operations=[
                migrations.AddConstraint(
                    "user", models.UniqueConstraint("tenant", "prepared_name", name="user_name_unique")
                )
            ],
        ),
        migrations.RunSQL(
            [
                "DROP INDEX CONCURRENTLY IF EXISTS user_name_unique_in_tenant",
                "DROP INDEX CONCURRENTLY IF EXISTS user_name_lower",
            ],
            OLD,
            state_operations=[
                migrations.RemoveConstraint("user", "user_name_unique_in_tenant"),
                migrations.RemoveIndex("user", "user_name_lower"),
            ],
        ),
    ]
