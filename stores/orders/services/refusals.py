"""Everything that is wrong with a refused order.

An order is refused at the first rule that it breaks. Then each rule is applied once more, on its own, so that the
refusal lists all faults at once; accepted orders cost nothing more.
"""

from dataclasses import replace

from fulfillment.core.errors import Fault, Invalid, collected, refusal_of
from stores.orders.selectors.access import StoreAccess
from stores.orders.selectors.selections import with_selections
from stores.orders.services.packing_slips import unprintable_faults
from stores.orders.services.prints import template_data_faults
from stores.orders.services.quotes import faults_of_prices, ordered_products
from stores.orders.services.validation import OrderRequest, outcome_faults, quoted_option, reprinted_order


def complete_refusal(*, access: StoreAccess, request: OrderRequest, refusal: Invalid) -> Invalid:
    """The refusal with all other faults of the order."""
    faults = order_faults(access=access, request=request)
    known = {(fault.pointer, fault.code) for fault in faults}
    more = [fault for fault in refusal.faults if (fault.pointer, fault.code) not in known]
    return refusal_of([*faults, *more])


def order_faults(*, access: StoreAccess, request: OrderRequest) -> list[Fault]:
    """The faults of an order by the records of its store, as far as they show without rendering."""
    is_quoted = request.quote_id is not None
    price_request = with_selections(access.caller, request.price_request, expired=is_quoted)
    request = replace(request, price_request=price_request)
    products = ordered_products(access=access, price_request=price_request, archived=is_quoted)
    faults = [*unprintable_faults(request.recipient), *outcome_faults(access, request)]
    with collected(faults):
        reprinted_order(access, request)
    if is_quoted:
        with collected(faults):
            quoted_option(access, request)
    else:
        faults += faults_of_prices(access=access, price_request=price_request, products=products)
    return [*faults, *template_data_faults(access=access, request=request, products=products)]
