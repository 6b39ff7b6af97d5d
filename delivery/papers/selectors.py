from datetime import date

from delivery.papers.models import OfficialForm, PostagePrice
from delivery.papers.sheets import Postage, PostageOn


def form_in_use() -> OfficialForm | None:
    """The newest form, if it has a mapping."""
    newest = OfficialForm.objects.order_by("-id").first()
    return newest if newest is not None and newest.mapping else None


def load_postage() -> PostageOn:
    """The price of a piece on a day: the latest one that has started; None before the first."""
    prices = [
        Postage(per_piece, starts)
        for starts, per_piece in PostagePrice.objects.order_by("-starts").values_list("starts", "per_piece")
    ]

    def on(day: date) -> Postage | None:
        return next((price for price in prices if price.starts <= day), None)

    return on
