"""The steps of orders in the console: what their buttons say, on the page of one order and for several."""

from typing import Any, NamedTuple

from django.utils.translation import gettext_lazy as _

from stores.orders.models import OrderStatus

REFUSE = "refuse"


class StatusStep(NamedTuple):
    """`value` is a status, or REFUSE; `action` takes the step on several orders. Forward steps are highlighted."""

    value: str
    verb: Any
    action: str = ""
    is_forward: bool = False


# "…" means that a confirmation follows.
STEPS = {
    step.value: step
    for step in (
        StatusStep(str(OrderStatus.RECEIVED), _("Back to received")),
        StatusStep(str(OrderStatus.ON_HOLD), _("Hold"), "hold"),
        StatusStep(str(OrderStatus.ACCEPTED), _("Accept"), "accept", is_forward=True),
        StatusStep(str(OrderStatus.IN_PRODUCTION), _("Start production"), "produce", is_forward=True),
        StatusStep(str(OrderStatus.PARTIALLY_SHIPPED), _("Ship a part")),
        StatusStep(str(OrderStatus.SHIPPED), _("Ship"), "ship", is_forward=True),
        StatusStep(str(OrderStatus.DELIVERED), _("Mark as delivered"), "deliver", is_forward=True),
        StatusStep(str(OrderStatus.RETURNED), _("Mark as returned")),
        StatusStep(str(OrderStatus.CANCELLED), _("Cancel …"), "cancel"),
        StatusStep(str(OrderStatus.REJECTED), _("Reject …")),
        StatusStep(REFUSE, _("Refuse to cancel …"), "refuse"),
    )
}
OF_ACTIONS = {step.action: step for step in STEPS.values() if step.action}


def kind_of(action: str) -> str:
    """How the list treats the button of an action: steps are shown where a chosen order allows them."""
    step = OF_ACTIONS.get(action)
    return "" if step is None else "forward" if step.is_forward else "move"
