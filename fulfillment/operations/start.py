"""Recognises a database made before 0.1.0, whose migrations start with that release."""

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader

from fulfillment.core.plugins import offered, service_apps


def refuse_unsafe_start() -> None:
    """Runs the checks of apps before web server, worker or deployment start. Raises ImproperlyConfigured."""
    for check in offered("operations", "before_start"):
        check()


BEFORE_FIRST_RELEASE = (
    "This database was made before release 0.1.0 and cannot be migrated: on a development machine remove the folder "
    "var/ (or empty the database of DATABASE_URL) and run `make run` again; in production begin with an empty "
    "database, since nothing was released before 0.1.0."
)


def is_older_than_first_release(connection: BaseDatabaseWrapper) -> bool:
    """Whether an app has applied migrations, but not its current first one."""
    loader = MigrationLoader(connection)
    for app in service_apps():
        applied = {name for label, name in loader.applied_migrations if label == app.label}
        known = {name for label, name in loader.disk_migrations if label == app.label}
        if applied and known and min(known) not in applied:
            return True
    return False
