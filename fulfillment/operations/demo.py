"""The demo of development mode: stores, users and an application with known credentials, from modules `demo`."""

from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import transaction

from fulfillment.core.plugins import DemoCard, DemoRun, offered_values


def load_demo() -> DemoRun:
    """Loads missing demo data; existing data stays unchanged."""
    require_development()
    return _each("load_demo")


def draw_pictures() -> None:
    """Draws pictures that pages would otherwise draw when they are first opened."""
    for draw in offered_values("demo", "draw_pictures"):
        draw()


@transaction.atomic
def reset_demo() -> dict[str, Any]:
    """Restores users, keys, roles and application of the demo as documented; returns them with new tokens."""
    require_development()
    run = _each("reset_demo")
    record: dict[str, Any] = {"base_url": settings.API_URL}
    for demo_record in offered_values("demo", "demo_record"):
        record |= demo_record(run)
    return record


def demo_card(run: DemoRun) -> DemoCard:
    """The sign-ins and a first call, for the demo that `load_demo` returned."""
    [card] = offered_values("demo", "demo_card")
    lines: DemoCard = card(run)
    return lines


def require_development() -> None:
    if not settings.DEVELOPMENT:
        raise ImproperlyConfigured("The demo is for development mode; its passwords and keys are public.")


def _each(step: str) -> DemoRun:
    run = DemoRun()
    for do in offered_values("demo", step):
        do(run)
    return run
