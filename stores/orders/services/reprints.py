"""Reprints: a new order of the same items, printed from the same files."""

from collections.abc import Sequence
from uuid import UUID

from django.utils.translation import gettext as _

from accounts.callers import Caller
from fulfillment.core.errors import Conflict, Invalid
from fulfillment.core.uuid7 import new_uuid7
from stores.orders.eddm import reprinted_selection
from stores.orders.models import Order, OrderItem
from stores.orders.requests import OrderRequest, PriceRequest, PriceRequestItem
from stores.orders.selectors.access import WRITE, authorize_store
from stores.orders.services.changes import actor_of, lock_orders
from stores.orders.services.orders import PreparedOrder, writing_order
from stores.orders.services.print_files import (
    StoredPrint,
    delete_print_files,
    read_print_file,
    store_print_file,
)
from stores.orders.services.quotes import slot_if_many_items
from stores.orders.services.validation import validate_order
from stores.proofs.services.artwork import ArtworkChoice
from stores.proofs.services.print_rendering import PrintedFile


def reprint_order(*, order: Order, positions: Sequence[int], caller: Caller, known_reprints: int) -> Order:
    """Orders these items again for the same recipient at today's prices.

    `known_reprints` is the number of reprints when the page was loaded, so that a second click does not order again.
    """
    _refuse_erased(order)
    items = [item for item in order.items.order_by("position") if item.position in set(positions)]
    if not items:
        raise Invalid.at("/Items", "required", _("Items: select at least one to reprint."))
    opened = authorize_store(caller, order.store.external_id, WRITE)
    request = _make_request(order, items)
    with slot_if_many_items(caller, request.price_request):
        validated = validate_order(access=opened, request=request)
        order_id = new_uuid7()
        files = _copy_prints(order, items, order_id)
    prepared = PreparedOrder(order_id, opened, request, *validated, files)
    with writing_order(prepared=prepared) as write:
        lock_orders(store_pks=[order.store_id])
        order.refresh_from_db(fields=["recipient_erased"])
        _refuse_erased(order)
        if order.reprints.count() != known_reprints:
            raise Conflict(_("The order was printed again meanwhile."), code="reprinted_meanwhile")
        return write(actor_of(opened))


def _refuse_erased(order: Order) -> None:
    if order.recipient_erased:
        raise Conflict(
            _("The recipient of this order was erased: it cannot be printed again."), code="recipient_erased"
        )


def _make_request(order: Order, items: Sequence[OrderItem]) -> OrderRequest:
    price_request = PriceRequest(
        tuple(
            PriceRequestItem(
                item.item_key,
                item.product_external_id,
                item.quantity,
                reprinted_selection(item.eddm),
                ArtworkChoice.from_record(item.artwork) if item.artwork else None,
            )
            for item in items
        ),
        order.recipient["CountryCode"],
        order.recipient.get("LocationType", ""),
        order.delivery_method_code,
        order.production_days,
        destination_pointer="/Recipient",
    )
    return OrderRequest(
        price_request=price_request,
        recipient=order.recipient,
        template_data=[item.template_data for item in items],
        reprint_of=str(order.pk),
        labels=[item.label for item in items],
    )


def _copy_prints(order: Order, items: Sequence[OrderItem], order_id: UUID) -> tuple[StoredPrint | None, ...]:
    """Copies the print files: the pictures and the template they were rendered from may no longer exist."""
    assets = tuple(order.ordered_assets.values_list("asset", flat=True))
    copies: list[StoredPrint | None] = []
    try:
        for position, item in enumerate(items):
            if not item.print_sha256:
                copies.append(StoredPrint("", "", 0, (), (), options=item.options, finishing=item.finishing))
                continue
            file = PrintedFile(
                read_print_file(item=item),
                item.print_sha256,
                assets,
                preflight=item.preflight or (),
                preset=item.print_preset,
                options=item.options,
            )
            stored = store_print_file(order_id=order_id, item_position=position, file=file)
            copies.append(stored._replace(finishing=item.finishing))
    except BaseException:
        delete_print_files(files=copies)
        raise
    return tuple(copies)
