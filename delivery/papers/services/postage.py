from datetime import date
from decimal import Decimal

from delivery.papers.models import PostagePrice
from fulfillment.core.errors import Invalid


def save_postage_price(
    *, starts: date, per_piece: Decimal, note: str = "", price: PostagePrice | None = None
) -> PostagePrice:
    """Saves a new or changed price, which papers rendered later use."""
    if per_piece <= 0:
        raise Invalid.at("/per_piece", "not_positive", "The price of a piece must be above 0.")
    others = PostagePrice.objects.filter(starts=starts)
    if price is not None:
        others = others.exclude(pk=price.pk)
    if others.exists():
        raise Invalid.at("/starts", "starts_taken", f"There is already a price from {starts}.")
    saved = price or PostagePrice()
    saved.starts, saved.per_piece, saved.note = starts, per_piece, note
    saved.save()
    return saved
