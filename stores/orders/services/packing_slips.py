"""Packing slips: the items and the recipient of an order, without prices, and its number as a bar code."""

import logging
import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from django.db.models import Count, Prefetch, QuerySet, prefetch_related_objects
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from accounts.callers import Caller
from fulfillment.core.errors import Conflict, DomainError, Fault, ServiceBusy, TooManyAtOnce
from printing.barcodes import code_128_runs
from printing.typesetting import FontSet, RenderingFailed, RenderingTimedOut, render_document
from printing.typesetting.fonts import clusters
from printing.typesetting.render_input import describe_characters
from stores.catalog.models import Store, StoreProfile
from stores.concurrency_limits import RENDERINGS
from stores.orders.models import Order, OrderItem, Shipment
from stores.orders.services.print_files import print_picture

logger = logging.getLogger("stores.packing_slips")

# What slips show: values and routes of 200 orders, or the item keys of their parcels, could take gigabytes.
LISTED = (
    Prefetch("items", OrderItem.objects.defer(*OrderItem.LARGE)),
    Prefetch("shipments", Shipment.objects.defer("item_keys")),
)
LAYOUT = Path(__file__).parents[1] / "packing_slip.typ"
FONT = "Lato"
LETTER_COUNTRIES = {"US", "CA", "MX"}
# Pictures of one document; items after them are listed without.
MAX_PICTURES = 100
# Items of one document, which 200 orders could exceed fifty times.
MAX_ITEMS = 2_000
# For all slips of one document together. No picture is begun after its seconds; the layout has at least the rest.
SECONDS, PICTURE_SECONDS = 20.0, 10.0


class PackingSlipUnusable(Conflict):
    code = "packing_slip_unusable"

    def __init__(self) -> None:
        super().__init__("The packing slip of this order cannot be rendered.")


class PackingSlipsTooSlow(Conflict):
    code = PackingSlipUnusable.code

    def __init__(self, refused: Sequence[str] = ()) -> None:
        reason = _("These packing slips take too long to be laid out. Select fewer orders.")
        super().__init__(" ".join([reason, *refused]))


def unprintable_faults(recipient: Mapping[str, str]) -> list[Fault]:
    """Faults for characters that no font can print: the packing slip would show empty boxes."""
    unprintable = {
        name: FontSet.shipped().chain(FONT, value)[1] for name, value in recipient.items() if value
    }
    return [
        Fault(
            f"/Recipient/{name}",
            "character_not_printable",
            _("%(name)s contains %(letter)s, which no available font can print.")
            % {"name": name, "letter": describe_characters(letter)},
        )
        for name, letter in unprintable.items()
        if letter
    ]


class PackingSlips(NamedTuple):
    """One PDF with all packing slips that could be rendered, and the reasons for those that could not."""

    pdf: bytes
    refused: list[str]


def render_packing_slip(*, order: Order, caller: Caller) -> bytes:
    """A PDF; the order's texts are data to the fixed layout, never markup."""
    with RENDERINGS.slot(caller.key):
        prefetch_related_objects([order], *LISTED)
        document = _Document(caller)
        try:
            return _render_slips([_make_slip(order, document)], order, document)
        except PackingSlipsTooSlow as error:
            raise PackingSlipUnusable from error


def render_packing_slips(*, orders: QuerySet[Order], caller: Caller) -> PackingSlips:
    """The slips of several orders, one after the other in one PDF."""
    counts = {"items": orders.aggregate(items=Count("items"))["items"], "max_items": MAX_ITEMS}
    if counts["items"] > MAX_ITEMS:
        message = _(
            "The selected orders have %(items)s items. Packing slips of at most %(max_items)s items fit into "
            "one file; select fewer orders."
        ) % {name: number_format(count, force_grouping=True) for name, count in counts.items()}
        raise Conflict(message, code=PackingSlipUnusable.code)
    with RENDERINGS.slot(caller.key):
        listed = list(orders)
        prefetch_related_objects(listed, *LISTED)
        document = _Document(caller)
        slips = [_make_slip(order, document) for order in listed]
        try:
            return PackingSlips(_render_slips(slips, listed[-1], document), [])
        except PackingSlipUnusable:
            return _without_unusable(listed, slips, document)


class _Document:
    """What the slips of a document share: its deadline, and its pictures, each once, by the names that its layout has
    for them."""

    def __init__(self, caller: Caller) -> None:
        self.files: list[bytes] = []
        self._caller = caller
        self._logos: dict[int, str | None] = {}
        self._is_busy = False
        self._begun = time.monotonic()
        self._deadline = self._begun + SECONDS

    def left(self) -> float:
        """The seconds until its deadline."""
        return self._deadline - time.monotonic()

    def logo(self, store: Store) -> str | None:
        if store.pk not in self._logos:
            logos = StoreProfile.objects.filter(store=store, logo__isnull=False)
            logo = logos.values_list("logo", flat=True).first()
            self._logos[store.pk] = self._add(bytes(logo)) if logo else None
        return self._logos[store.pk]

    def first_page(self, item: OrderItem) -> str | None:
        """The first page of the print file; None if it cannot be drawn now: the slip is printed without."""
        if not item.print_file or self._is_busy or len(self.files) >= MAX_PICTURES:
            return None
        if time.monotonic() >= self._begun + PICTURE_SECONDS:
            return None
        try:
            return self._add(print_picture(item=item, page=0, size="small", caller=self._caller))
        except (ServiceBusy, TooManyAtOnce):
            self._is_busy = True
        except DomainError as error:
            logger.warning("A packing slip has no picture of an item: %s", error.message)
        finally:
            self._deadline = max(self._deadline, time.monotonic() + SECONDS - PICTURE_SECONDS)
        return None

    def _add(self, picture: bytes) -> str:
        self.files.append(picture)
        return f"{len(self.files) - 1}.png"


def _without_unusable(orders: Sequence[Order], slips: Sequence[Any], document: _Document) -> PackingSlips:
    good: list[Any] = []
    refused: list[str] = []
    try:
        for order, slip in zip(orders, slips, strict=True):
            try:
                _render_slips([slip], order, document)
                good.append(slip)
            except PackingSlipUnusable as error:
                refused.append(f"{order.number}: {error.message}")
        return PackingSlips(_render_slips(good, orders[-1], document) if good else b"", refused)
    except PackingSlipsTooSlow as error:
        raise PackingSlipsTooSlow(refused) from error


def _render_slips(slips: Sequence[Any], order: Order, document: _Document) -> bytes:
    if (seconds := document.left()) <= 0:
        raise PackingSlipsTooSlow
    try:
        timestamp = int(order.updated.timestamp())
        return render_document(LAYOUT, slips, timestamp=timestamp, pictures=document.files, seconds=seconds)
    except RenderingTimedOut as error:
        raise PackingSlipsTooSlow from error
    except RenderingFailed as error:
        logger.error("A packing slip could not be rendered", exc_info=error)
        raise PackingSlipUnusable from error


def address_lines(to: Mapping[str, str]) -> list[str]:
    """The recipient's address in the lines of a letter."""
    town = " ".join(part for part in (to["City"], to.get("State", ""), to["PostalCode"]) if part)
    lines = [to["Name"], to.get("Company"), to["Address1"], to.get("Address2"), town, to["CountryCode"]]
    return [line for line in lines if line]


def printable(value: Any) -> Any:
    """Replaces characters that no font can print by their code points, in all texts of the slip."""
    if isinstance(value, dict):
        return {name: printable(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [printable(inner) for inner in value]
    if not isinstance(value, str):
        return value
    text = value.replace("\n", " ")
    return text if _is_printable(text) else "".join(map(_printable_cluster, clusters(text)))


@lru_cache(maxsize=10_000)
def _printable_cluster(cluster: str) -> str:
    """Code points for letters that no font has, or for all where no font has them together."""
    if _is_printable(cluster):
        return cluster
    if len(cluster) == 1:
        return _code_point(cluster)
    shown = "".join(letter if _is_printable(letter) else _code_point(letter) for letter in cluster)
    return shown if _is_printable(shown) else "".join(map(_code_point, cluster))


def _is_printable(text: str) -> bool:
    return FontSet.shipped().chain(FONT, text)[1] is None


def _code_point(letter: str) -> str:
    return f"[U+{ord(letter):04X}]"


def _make_slip(order: Order, document: _Document) -> dict[str, Any]:
    columns, runs = code_128_runs(str(order.number))
    drawn = {
        "logo": document.logo(order.store),
        "pictures": [document.first_page(item) for item in order.items.all()],
        "columns": columns,
        "bars": [(start, width) for start, _, width in runs],
    }
    return {**printable(_list_texts(order)), **drawn}


def _list_texts(order: Order) -> dict[str, Any]:
    store, to = order.store, order.recipient
    return {
        "letter": to["CountryCode"] in LETTER_COUNTRIES,
        "store": store.company_name,
        "test": order.is_test,
        "number": str(order.number),
        "external": order.external_id,
        "date": store.local_date(order.created).isoformat(),
        "address": address_lines(to),
        "method": order.delivery_method_code,
        "expected": f"{order.earliest_delivery.isoformat()} to {order.latest_delivery.isoformat()}",
        "items": [
            {
                "key": item.label or item.item_key,
                "name": item.product_name,
                "product": item.product_external_id,
                "quantity": item.quantity,
            }
            for item in order.items.all()
        ],
        "quantity": order.total_quantity,
        "parcels": [str(shipment) for shipment in order.shipments.all()],
    }
