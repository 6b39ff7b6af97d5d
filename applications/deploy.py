from applications.registration.services.applications import ensure_api_console, ensure_command_line
from applications.webhooks.services.events import renumber_events_after_restore


def after_migrations() -> None:
    ensure_api_console()
    ensure_command_line()
    renumber_events_after_restore()
