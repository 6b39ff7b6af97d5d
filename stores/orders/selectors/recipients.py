"""Orders by their recipients, and the words that identify these."""

from collections.abc import Iterable
from uuid import UUID

from django.db.models import Q, QuerySet

from stores.orders.models import Order

# A town or a state alone identifies no person, and appears in many texts.
IDENTIFYING = ("Name", "Company", "Address1", "Address2", "PostalCode", "Phone", "Email")
# In ASCII; a Chinese name may have two characters, but two ASCII letters appear in every text.
SHORTEST_WORD = 3


def orders_for_recipient(*, email: str = "", name: str = "", postal_code: str = "") -> QuerySet[Order]:
    """Orders for a recipient, by e-mail or by name and postal code, without regard to case."""
    orders = Order.objects.filter(recipient_erased__isnull=True).select_related("store").order_by("pk")
    if email:
        return orders.filter(recipient__Email__iexact=email.strip())
    return orders.filter(
        recipient__Name__iexact=name.strip(), recipient__PostalCode__iexact=postal_code.strip()
    )


def names_recipient(order: Order) -> bool:
    """Whether the ExternalID, which an erasure keeps, holds a name or an address; call it before the erasure."""
    if not order.external_id or order.recipient_erased:
        return False
    external_id = order.external_id.casefold()
    return any(word.casefold() in external_id for word in identifying_words(order.recipient))


def with_reprints(orders: QuerySet[Order]) -> QuerySet[Order]:
    """The orders with all reprints of them and all orders they reprint, over any number of steps."""
    keys: set[UUID] = set()
    order_ids = set(orders.values_list("pk", flat=True))
    while order_ids - keys:
        keys |= order_ids
        linked = Order.objects.filter(Q(pk__in=keys) | Q(reprint_of__in=keys)).values_list("pk", "reprint_of")
        order_ids = {key for pair in linked for key in pair if key}
    return Order.objects.filter(pk__in=keys).select_related("store").order_by("pk")


def names_and_emails(orders: Iterable[Order]) -> list[str]:
    """The names and e-mail addresses of the recipients that are not erased yet."""
    recipients = [order.recipient for order in orders if not order.recipient_erased]
    return [
        value for recipient in recipients for name in ("Name", "Email") if (value := recipient.get(name, ""))
    ]


def identifying_words(recipient: dict[str, str]) -> list[str]:
    texts = [recipient.get(name, "").strip() for name in IDENTIFYING]
    parts = [part for name in ("Name", "Company") for part in recipient.get(name, "").split()]
    return list(filter(is_identifying, [*texts, *parts]))


def is_identifying(word: str) -> bool:
    """Whether other texts that have it are about the same person."""
    return len(word) >= (SHORTEST_WORD if word.isascii() else 2)
