"""How many pieces a selection may have, by its limit and its budget."""

from decimal import Decimal

from django.utils.translation import gettext as _

from accounts.callers import Caller
from delivery.selection.criteria import Criteria, SelectionBudget
from fulfillment.core import plugins
from fulfillment.core.errors import Invalid


def piece_limit(caller: Caller, criteria: Criteria) -> int | None:
    """The most pieces that the limit and the budget of a selection allow; None if neither is set."""
    limits = [criteria.max_pieces] if criteria.max_pieces is not None else []
    if criteria.budget is not None:
        price = _ask_price(caller, criteria.budget)
        if price > 0:
            affordable = int(criteria.budget.amount / price)
            if affordable < 1:
                message = _("Amount: one piece costs %(price)s; nothing can be selected for %(amount)s.")
                values = {"price": price, "amount": criteria.budget.amount}
                raise Invalid.at("/Budget/Amount", "selection_empty", message % values)
            limits.append(affordable)
    return min(limits) if limits else None


def _ask_price(caller: Caller, budget: SelectionBudget) -> Decimal:
    """The price of one piece, from an app that offers `mailing_prices`."""
    for unit_price in plugins.offered_values("mailing_prices", "unit_price"):
        price: Decimal = unit_price(
            caller,
            store_id=budget.store_id,
            product_id=budget.product_id,
            delivery_method_code=budget.delivery_method_code,
        )
        return price
    raise Invalid.at("/Budget", "budget_unavailable", _("Budget: this service offers no product to mail."))
