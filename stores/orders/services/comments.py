"""Internal notes on orders."""

from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from fulfillment.core.errors import Conflict, Invalid
from stores.orders.models import Order, OrderComment
from stores.orders.models.comment import LONGEST_COMMENT
from stores.orders.services.transitions import lock_order

MAX_COMMENTS = 500


@transaction.atomic
def add_comment(
    *, order: Order, author_id: UUID | None, text: str, at: datetime | None = None
) -> OrderComment:
    """Adds a note. The order's version stays the same, and no event is recorded."""
    words = text.strip()
    if not words:
        raise Invalid.at("/Comment", "required", "Comment: write something first.")
    if len(words) > LONGEST_COMMENT:
        message = f"Comment: at most {LONGEST_COMMENT:,} characters; this has {len(words):,}."
        raise Invalid.at("/Comment", "too_long", message)
    # Locked, so that a note written during an erasure is erased as well.
    locked = lock_order(order, ())
    if locked.recipient_erased:
        raise Conflict(
            "The recipient of this order was erased, and what people wrote about it with them: it takes no comments.",
            code="recipient_erased",
        )
    if OrderComment.objects.filter(order=order)[:MAX_COMMENTS].count() >= MAX_COMMENTS:
        raise Conflict(f"An order has at most {MAX_COMMENTS} comments.", code="too_many_comments")
    return OrderComment.objects.create(
        order=order, author_id=author_id, text=words, created=at or timezone.now()
    )
