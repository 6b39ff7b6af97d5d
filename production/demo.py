"""A press for the demo: a hot folder that takes the orders of one store, and `manage.py play_press` prints them."""

from pathlib import Path

from django.conf import settings
from django.db import transaction

from fulfillment.core.files.folders import make_folder
from fulfillment.core.files.storage import FOLDER_MODE
from fulfillment.core.plugins import DemoRun
from production.dispatch.services.queueing import follow_order
from production.providers.models import Provider
from production.providers.services import ProviderValues, save_provider
from production.routing.models import RoutingChoice, RoutingRule
from stores.catalog.models import Store
from stores.orders.models import Order, OrderStatus
from stores.orders.services.changes import lock_order

CODE, STORE = "demo-press", "summit-print"


@transaction.atomic
def set_up_demo_press(*, code: str, store_id: str, root: Path) -> Provider | None:
    """Sets up the press unless a provider exists; queues accepted orders of the store."""
    store = Store.objects.filter(external_id=store_id, is_demo=False).first()
    if store is None or Provider.objects.exists():
        return None
    hot, back = root / code / "in", root / code / "out"
    for folder in (hot, back):
        make_folder(folder, mode=FOLDER_MODE)
    provider = save_provider(
        values=ProviderValues(
            code=code,
            name="Demo press",
            adapter="folder",
            settings={"folder": str(hot), "return_folder": str(back)},
        )
    )
    rule = RoutingRule.objects.create(name=f"All of {store}", store=store)
    RoutingChoice.objects.create(rule=rule, provider=provider)
    waiting = Order.objects.filter(store=store, status=OrderStatus.ACCEPTED, is_test=False)
    for order in waiting.order_by("number"):
        follow_order(order=lock_order(order))
    return provider


def load_demo(run: DemoRun) -> None:
    if settings.PRODUCTION_FOLDERS:
        set_up_demo_press(code=CODE, store_id=STORE, root=Path(settings.PRODUCTION_FOLDERS[0]))
