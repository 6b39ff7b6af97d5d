"""A press for the demo: a hot folder that takes the orders of one store, and `manage.py play_press` prints them."""

from pathlib import Path

from django.conf import settings

from fulfillment.core.plugins import DemoRun
from production.dispatch.services.demo import set_up_demo_press

CODE, STORE = "demo-press", "summit-print"


def load_demo(run: DemoRun) -> None:
    if settings.PRODUCTION_FOLDERS:
        set_up_demo_press(code=CODE, store_id=STORE, root=Path(settings.PRODUCTION_FOLDERS[0]))
