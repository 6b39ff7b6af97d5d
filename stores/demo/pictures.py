"""Pictures of the demo's orders, for the first look at the list of orders."""

from contextlib import suppress

from accounts.callers import Caller
from fulfillment.core.errors import DomainError
from stores.demo.orders import ORDERS
from stores.orders.models import OrderItem
from stores.orders.services.print_files import print_picture


def draw_pictures() -> None:
    """Draws what is not stored yet; a picture that is refused is drawn when it is first shown."""
    items = OrderItem.objects.exclude(print_file="").select_related("order").order_by("-order__number")
    for item in items[: 2 * len(ORDERS)]:
        with suppress(DomainError):
            print_picture(item=item, page=0, size="small", caller=Caller())
