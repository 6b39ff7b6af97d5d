"""The delivery counts of the demo."""

from typing import Any

from delivery.datasets.services.demo import DEMO_POSTAL_CODES, load_demo_population
from fulfillment.core.plugins import DemoRun


def load_demo(run: DemoRun) -> None:
    load_demo_population()


def demo_record(run: DemoRun) -> dict[str, Any]:
    return {"postal_codes": list(DEMO_POSTAL_CODES)}
