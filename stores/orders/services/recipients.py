"""Erases the recipient of an order: the address, the print files, and every copy of both.

The order's items, prices, statuses and parcels stay.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.callers import Caller
from accounts.services.idempotency import rewrite_stored_responses
from applications.webhooks.services.events import redact_events
from fulfillment.core.audit.personal_data import ERASED, erase_words
from fulfillment.core.audit.retention import RetentionRule, remove_each
from fulfillment.core.errors import Conflict, DomainError
from fulfillment.core.plugins import offered_values
from stores.orders.models import Order, OrderItem, OrderStatus
from stores.orders.models.status import TERMINAL_OR_SHIPPED
from stores.orders.representations import render_export_row
from stores.orders.selectors.recipients import identifying_words
from stores.orders.services.approvals import erase_approval_notes
from stores.orders.services.changes import SYSTEM, Actor, append_history, lock_order
from stores.orders.services.print_files import delete_ordered_assets, erase_print_files
from stores.proofs.selectors import product_version_of
from stores.proofs.services.merging import find_proofs_by_traces, merge_template
from stores.proofs.services.retention import delete_proof

# Required members are overwritten; other members of the address are removed.
REQUIRED = ("Name", "Address1", "City", "PostalCode")
UNCHANGED = ("CountryCode", "LocationType")
NOTE = "The recipient was erased."
# The members that belong to one person; many people share a company or a town.
PERSONAL_MEMBERS = ("Name", "Address1", "Phone", "Email")


def retention_rules() -> list[RetentionRule]:
    return [RetentionRule("addresses of old orders", lambda: _old_addresses().count(), _erase_old)]


def erase_recipient(*, order: Order, actor: Actor, force: bool = False) -> Order:
    """Erases the recipient everywhere; a repeated call only deletes files that remained after a crash.

    Raises Conflict for an order that is not shipped yet, unless `force`.
    """
    current = Order.objects.get(pk=order.pk)
    _refuse_unshipped(current, force=force)
    if not current.recipient_erased:
        # Before the lock, for which other orders of the store wait: those of 80 items take two seconds.
        _delete_proofs(current)
    return _erase_locked(order, actor, force=force)


@transaction.atomic
def _erase_locked(order: Order, actor: Actor, *, force: bool) -> Order:
    locked = lock_order(order)
    _refuse_unshipped(locked, force=force)
    # Below the lock: else a page's picture may be stored after it, and a busy store would leave an order without files.
    erase_print_files(order_id=locked.pk)
    if locked.recipient_erased:
        return locked
    words = identifying_words(locked.recipient)
    locked.items.update(label="", template_data=None, artwork=None, print_file="")
    delete_ordered_assets(order=locked)
    _erase_copies(locked, words)
    _write_order(locked, actor)
    return locked


def _refuse_unshipped(order: Order, *, force: bool) -> None:
    """Call it before anything is deleted: a rollback does not restore files."""
    if order.recipient_erased or order.status in TERMINAL_OR_SHIPPED or force:
        return
    name = OrderStatus(order.status).label
    raise Conflict(
        _("Order %(order)s is %(name)s: it needs its address until it is shipped, cancelled or rejected.")
        % {"order": order, "name": name},
        code="order_at_work",
    )


def _old_addresses() -> QuerySet[Order]:
    if not settings.ADDRESS_RETENTION_DAYS:
        return Order.objects.none()
    before = timezone.now() - timedelta(days=settings.ADDRESS_RETENTION_DAYS)
    return Order.objects.filter(
        recipient_erased__isnull=True, status__in=TERMINAL_OR_SHIPPED, updated__lt=before
    )


def _erase_old(batch: int) -> Iterator[int]:
    def erase(order: Order) -> bool:
        return bool(erase_recipient(order=order, actor=SYSTEM))

    yield from remove_each(_oldest_first(batch), erase)


def _oldest_first(batch: int) -> Iterator[Order]:
    after = Q()
    while orders := list(
        _old_addresses().filter(after).select_related("store").order_by("updated", "pk")[:batch]
    ):
        yield from orders
        last = orders[-1]
        after = Q(updated__gte=last.updated) & (Q(updated__gt=last.updated) | Q(pk__gt=last.pk))


def _delete_proofs(order: Order) -> None:
    for digest in proofs_before(order):
        delete_proof(digest=digest)
    for item in order.items.exclude(template_data=None):
        _delete_proof_of(order, item)


def _delete_proof_of(order: Order, item: OrderItem) -> None:
    """Deletes the proof of the same values. Retention removes proofs of earlier template versions."""
    caller = Caller.who_made(order)
    with suppress(DomainError):
        product = product_version_of(item.product_id)
        values: Any = item.template_data
        merged = merge_template(caller=caller, product=product, values=values)
        delete_proof(digest=merged.proof_digest())


def _erase_copies(order: Order, words: list[str]) -> None:
    rewrite_stored_responses(
        since=order.created,
        until=order.created,
        location=f"/order/{order.pk}",
        rewrite=partial(_rewritten_response, str(order.pk)),
    )
    if order.application_id:
        redact_events(application_id=order.application_id, order_id=str(order.pk), words=words)
    for shipment in order.shipments.all():
        cleaned = erase_words(shipment.tracking_url, words)
        if cleaned != shipment.tracking_url:
            shipment.tracking_url = ""
            shipment.save(update_fields=["tracking_url"])
    # Notes are free text and may name people, so all are erased.
    order.history.exclude(note="").update(note=ERASED)
    order.comments.all().delete()
    erase_approval_notes(order=order)
    for recipient_erased in offered_values("order_status", "recipient_erased"):
        recipient_erased(order=order)


def _rewritten_response(order_id: str, body: bytes) -> bytes | None:
    record = json.loads(body) if body.startswith(b"{") else {}
    if record.get("OrderID") != order_id or "Recipient" not in record:
        return None
    record["Recipient"], record["Metadata"] = _erase_recipient(record["Recipient"]), {}
    for item in record["Items"]:
        item["TemplateData"] = item["PrintFile"] = None
        item.pop("Artwork", None)
    return json.dumps(record).encode()


def _write_order(order: Order, actor: Actor) -> None:
    order.recipient, order.metadata = _erase_recipient(order.recipient), {}
    order.cancellation_reason = ERASED if order.cancellation_reason else ""
    order.cancellation_note = ERASED if order.cancellation_note else ""
    order.recipient_erased = timezone.now()
    order.updated = max(order.recipient_erased, order.updated)
    order.sequence += 1
    order.rendering = render_export_row(order, order.store.external_id)
    order.save(
        update_fields=[
            "recipient",
            "metadata",
            "cancellation_reason",
            "cancellation_note",
            "recipient_erased",
            "updated",
            "sequence",
            "rendering",
        ]
    )
    append_history(order, previous_status=order.status, actor=actor, note=NOTE)


def _erase_recipient(recipient: dict[str, str]) -> dict[str, str]:
    unchanged = {name: recipient[name] for name in UNCHANGED if name in recipient}
    return {**dict.fromkeys(REQUIRED, ERASED), **unchanged}


def proofs_before(order: Order) -> list[str]:
    """Digests of proofs that the same caller made of the order's products before it, with a value in common."""
    personal = [order.recipient.get(name, "") for name in PERSONAL_MEMBERS]
    digests: set[str] = set()
    for item in order.items.exclude(template_data=None, artwork=None):
        submitted = {**(item.template_data or {}), **(item.artwork or {})}
        values = [value for value in submitted.values() if isinstance(value, str)]
        digests |= find_proofs_by_traces(
            product_id=item.product_id,
            application_id=order.application_id,
            user_id=order.user_id,
            values=[*values, *personal],
            until=order.created,
        )
    return sorted(digests)
