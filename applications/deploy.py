from applications.registration.services.applications import ensure_api_console
from applications.webhooks.services.events import renumber_events_after_restore


def after_migrations() -> None:
    ensure_api_console()
    renumber_events_after_restore()
