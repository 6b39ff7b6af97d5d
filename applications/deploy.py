from applications.registration.services.applications import ensure_api_console
from applications.webhooks.services.events import settle_restored_events


def after_migrations() -> None:
    ensure_api_console()
    settle_restored_events()
