"""The print files of an order: each is stored as soon as it is rendered, before the order is written."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from fulfillment.core.errors import (
    Conflict,
    Fault,
    Invalid,
    NotFound,
    RenderersBusy,
    ServiceBusy,
    TooManyAtOnce,
    collecting_faults,
    raise_faults,
)
from printing.preflight import Severity
from printing.waiting import own_time
from stores.concurrency_limits import ORDERS
from stores.orders.requests import ListedProduct, OrderRequest, PriceRequest
from stores.orders.selectors.access import StoreAccess
from stores.orders.services.print_files import StoredPrint, delete_print_files, store_print_file
from stores.proofs.selectors import product_versions_of
from stores.proofs.services.artwork import ArtworkChoice, merge_artwork
from stores.proofs.services.merging import Uploads, check_data
from stores.proofs.services.print_rendering import (
    SECONDS,
    PrintedFile,
    render_artwork_file,
    render_print_file,
)
from stores.proofs.services.proofs import preflight_artwork

# What is printed for an item: the values of a template, or a PDF of the caller's.
Content = Mapping[str, Any] | ArtworkChoice
# The position of an item, and what preflight found in it.
ItemFinding = tuple[int, Mapping[str, Any]]
# Limit for all print files of one order: one request renders and stores them before the order exists.
MAX_PRINT_BYTES = 512 * 1024 * 1024
# And for the values that they show, which requests that read the order take into memory.
MAX_VALUES_BYTES = 10 * 1024 * 1024
# For the demo store, where every caller may order and nothing is printed.
DEMO_SECONDS = 10.0


def store_order_prints(
    *,
    access: StoreAccess,
    request: OrderRequest,
    products: Mapping[str, ListedProduct],
    order_id: UUID,
    seconds: float | None = None,
) -> tuple[StoredPrint | None, ...]:
    """Returns a print file for each item whose product takes data, or that has a PDF; equal ones are rendered once.

    Raises Invalid for values that cannot be printed and for too large orders; then all stored files are deleted.
    """
    printed = _printed_keys(request.price_request, products)
    with ORDERS.slot(access.caller.key) if printed else nullcontext():
        return _store_prints(request, products, _OrderPrinter(access, printed, order_id, seconds))


def _store_prints(
    request: OrderRequest, products: Mapping[str, ListedProduct], printer: "_OrderPrinter"
) -> tuple[StoredPrint | None, ...]:
    files: list[StoredPrint | None] = []
    faults: list[Fault] = []
    try:
        for index, item in enumerate(request.price_request.items):
            product, data = products[item.product_id], request.template_data[index]
            try:
                is_printed = item.artwork or product.takes_data
                files.append(
                    printer.store(index, product, item.artwork or data or {}) if is_printed else None
                )
            except Invalid as error:
                faults += error.faults
            faults += _find_superfluous(index, product, data)
            if any(fault.code == "order_too_large" for fault in faults):
                break
        raise_faults(faults)
        _refuse_errors(
            [(index, finding) for index, file in enumerate(files) if file for finding in file.preflight]
        )
    except BaseException:
        delete_print_files(files=printer.stored.values())
        raise
    return tuple(files)


def template_data_faults(
    *, access: StoreAccess, request: OrderRequest, products: Mapping[str, ListedProduct]
) -> list[Fault]:
    """What is wrong with the template data of items, as far as it shows without rendering.

    Nothing while orders are at their concurrency limit: the refusal then names the other faults alone.
    """
    items = [
        (index, products[item.product_id], item.artwork or request.template_data[index])
        for index, item in enumerate(request.price_request.items)
        if item.product_id in products
    ]
    try:
        with ORDERS.slot(access.caller.key):
            return _data_faults(access, items)
    except (ServiceBusy, TooManyAtOnce):
        return []


def _data_faults(
    access: StoreAccess, items: Sequence[tuple[int, ListedProduct, Content | None]]
) -> list[Fault]:
    uploads = Uploads(access.caller, access.store.pk)
    versions = product_versions_of(
        product.pk for _, product, data in items if product.takes_data or isinstance(data, ArtworkChoice)
    )
    faults: list[Fault] = []
    for index, product, data in items:
        if isinstance(data, ArtworkChoice):
            with collecting_faults(faults), _pointing_to(f"/Items/{index}/Artwork"):
                version = versions[product.pk]
                merge_artwork(caller=access.caller, product=version, choice=data, uploads=uploads)
            continue
        faults += _find_superfluous(index, product, data)
        if product.pk not in versions:
            continue
        # A template that cannot be used is a fault of the store, which the complete order is answered with.
        with suppress(Conflict), collecting_faults(faults), _pointing_to(f"/Items/{index}/TemplateData"):
            check_data(caller=access.caller, product=versions[product.pk], values=data or {}, uploads=uploads)
    return faults


def artwork_faults(
    *, access: StoreAccess, price_request: PriceRequest, products: Mapping[str, ListedProduct]
) -> list[Fault]:
    """What is wrong with the PDFs of items, as far as it shows without reading them."""
    items = list(_with_artwork(price_request, products))
    return _data_faults(access, items) if items else []


def preflight_items(
    *, access: StoreAccess, price_request: PriceRequest, products: Mapping[str, ListedProduct]
) -> list[ItemFinding] | None:
    """What preflight finds in the PDFs of items, None without one; raises Invalid as an order of them does."""
    items = list(_with_artwork(price_request, products))
    if not items:
        return None
    uploads = Uploads(access.caller, access.store.pk)
    versions = product_versions_of(product.pk for _, product, _ in items)
    deadline = own_time() + SECONDS
    findings_by_content: dict[tuple[int, ArtworkChoice], list[dict[str, Any]]] = {}
    for index, product, choice in items:
        key = (product.pk, choice)
        if key in findings_by_content:
            continue
        if own_time() > deadline:
            raise _too_large(index, f"the PDFs of one quote may take {SECONDS:.0f} seconds together")
        with _pointing_to(f"/Items/{index}/Artwork"):
            version = versions[product.pk]
            findings_by_content[key] = preflight_artwork(
                caller=access.caller, product=version, choice=choice, uploads=uploads
            )
    findings: list[ItemFinding] = [
        (index, finding)
        for index, product, choice in items
        for finding in findings_by_content[product.pk, choice]
    ]
    _refuse_errors(findings)
    return findings


def _with_artwork(
    price_request: PriceRequest, products: Mapping[str, ListedProduct]
) -> Iterator[tuple[int, ListedProduct, ArtworkChoice]]:
    for index, item in enumerate(price_request.items):
        if item.artwork and item.product_id in products:
            yield index, products[item.product_id], item.artwork


def _find_superfluous(index: int, product: ListedProduct, data: Mapping[str, Any] | None) -> list[Fault]:
    if not data or product.takes_data:
        return []
    message = f"TemplateData: {product.product_id} has no template fields."
    return [Fault(f"/Items/{index}/TemplateData", "template_data_not_allowed", message)]


def _refuse_errors(findings: Sequence[ItemFinding]) -> None:
    """Raises Invalid with all findings if preflight found an error; `Errors` names the item of each error."""
    faults = [
        Fault(f"/Items/{index}", finding["Code"], finding["Message"])
        for index, finding in findings
        if finding["Severity"] == Severity.ERROR
    ]
    if faults:
        message = ngettext(
            "Preflight found an error: it cannot be printed as it is.",
            "Preflight found %(count)s errors: it cannot be printed as it is.",
            len(faults),
        )
        raise Invalid(
            message % {"count": len(faults)},
            code="preflight_failed",
            faults=faults,
            members={"Preflight": [entry[1] for entry in findings]},
        )


def _printed_keys(price_request: PriceRequest, products: Mapping[str, ListedProduct]) -> set[int]:
    """The keys of the products of which something is printed."""
    ordered = ((products[item.product_id], item.artwork) for item in price_request.items)
    return {product.pk for product, artwork in ordered if artwork or product.takes_data}


class _OrderPrinter:
    """Renders and stores the print files of one order within its limits of time and bytes."""

    def __init__(
        self,
        access: StoreAccess,
        printed: Collection[int],
        order_id: UUID,
        seconds: float | None = None,
    ) -> None:
        self.stored: dict[tuple[str, bytes], StoredPrint] = {}
        self._order_id = order_id
        self._caller = access.caller
        self._uploads = Uploads(access.caller, access.store.pk)
        self._versions = product_versions_of(printed) if printed else {}
        self._seconds = seconds or (DEMO_SECONDS if access.store.is_demo else SECONDS)
        self._deadline = own_time() + self._seconds
        self._bytes = self._values_bytes = 0

    def store(self, index: int, product: ListedProduct, content: Content) -> StoredPrint:
        values = content.record() if isinstance(content, ArtworkChoice) else content
        form = type(content).__name__.encode()
        # Not by orjson, which refuses the whole numbers of any size that a caller may send in place of texts.
        text = json.dumps(values, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        key = (product.product_id, form + text.encode())
        self._values_bytes += len(key[1])
        if self._values_bytes > MAX_VALUES_BYTES:
            allowed = f"the values of one order have at most {MAX_VALUES_BYTES:,} bytes together"
            raise _too_large(index, allowed)
        if key not in self.stored:
            file = self._render(index, product, content)
            self._bytes += len(file.content)
            if self._bytes > MAX_PRINT_BYTES:
                allowed = f"the print files of one order have at most {MAX_PRINT_BYTES:,} bytes together"
                raise _too_large(index, allowed)
            self.stored[key] = store_print_file(order_id=self._order_id, item_position=index, file=file)
        return self.stored[key]

    def _render(self, index: int, product: ListedProduct, content: Content) -> PrintedFile:
        seconds = self._deadline - own_time()
        if seconds <= 0:
            raise _too_slow(index, self._seconds)
        if product.pk not in self._versions:
            raise NotFound(_("The product no longer exists."), code="product_not_found")
        try:
            version, uploads = self._versions[product.pk], self._uploads
            if isinstance(content, ArtworkChoice):
                with _pointing_to(f"/Items/{index}/Artwork"):
                    return render_artwork_file(
                        caller=self._caller, product=version, choice=content, uploads=uploads, seconds=seconds
                    )
            with _pointing_to(f"/Items/{index}/TemplateData"):
                return render_print_file(
                    caller=self._caller, product=version, values=content, uploads=uploads, seconds=seconds
                )
        except (RenderersBusy, ServiceBusy, TooManyAtOnce, Invalid) as error:
            # The first file had the whole time, so a retry may help. Later ones failed because the time was used up.
            if not self.stored or own_time() < self._deadline:
                raise
            raise _too_slow(index, self._seconds) from error


@contextmanager
def _pointing_to(pointer: str) -> Iterator[None]:
    try:
        yield
    except Invalid as error:
        faults = [Fault(pointer + fault.pointer, fault.code, fault.message) for fault in error.faults]
        raise Invalid(error.message, code=error.code, faults=faults) from error


def _too_slow(index: int, seconds: float) -> Invalid:
    return _too_large(index, f"the print files of one order may take {seconds:.0f} seconds together")


def _too_large(index: int, allowed: str) -> Invalid:
    message = f"Items: {allowed}; order this item and those after it separately."
    return Invalid.at(f"/Items/{index}", "order_too_large", message)
