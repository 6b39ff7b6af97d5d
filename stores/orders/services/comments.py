"""Internal notes on orders."""

from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from fulfillment.core.errors import Conflict, Invalid
from stores.orders.models import Order, OrderComment
from stores.orders.models.comments import MAX_COMMENT_LENGTH
from stores.orders.services.changes import lock_order

MAX_COMMENTS = 500


@transaction.atomic
def add_comment(
    *, order: Order, author_id: UUID | None, text: str, created: datetime | None = None
) -> OrderComment:
    """Adds a note. The order's version stays the same, and no event is recorded."""
    words = text.strip()
    if not words:
        raise Invalid.at("/Comment", "required", _("Comment: enter a comment."))
    if len(words) > MAX_COMMENT_LENGTH:
        message = f"Comment: at most {MAX_COMMENT_LENGTH:,} characters; this has {len(words):,}."
        raise Invalid.at("/Comment", "too_long", message)
    # Locked, so that a note written during an erasure is erased as well.
    locked = lock_order(order)
    if locked.recipient_erased:
        raise Conflict(
            _("The recipient and the comments of this order were erased. It accepts no new comments."),
            code="recipient_erased",
        )
    if OrderComment.objects.filter(order=order)[:MAX_COMMENTS].count() >= MAX_COMMENTS:
        raise Conflict(
            _("An order has at most %(max_comments)s comments.") % {"max_comments": MAX_COMMENTS},
            code="too_many_comments",
        )
    return OrderComment.objects.create(
        order=order, author_id=author_id, text=words, created=created or timezone.now()
    )
