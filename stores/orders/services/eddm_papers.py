"""The EDDM papers of an order item: one PDF for the printer and the post office."""

import logging
from datetime import date
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from accounts.callers import Caller
from delivery.papers.official_form import append_forms
from delivery.papers.planning import DropRoute, plan_drops
from delivery.papers.selectors import load_postage
from delivery.papers.services import filled_forms
from delivery.papers.sheets import LAYOUT, Mailing, make_sheets
from fulfillment.core.errors import Conflict, NotFound
from printing.typesetting import RenderingFailed, RenderingTimedOut, render_document
from stores.catalog.models import Product
from stores.concurrency_limits import RENDERINGS
from stores.orders.business_days import add_post_days, ship_day
from stores.orders.eddm import drop_routes
from stores.orders.models import OrderItem
from stores.orders.services.packing_slips import address_lines, printable

logger = logging.getLogger("stores.eddm_papers")
# Thousands of facing slips take a while.
SECONDS = 60.0


class PapersUnusable(Conflict):
    code = "eddm_papers_unusable"


def render_eddm_papers(*, item: OrderItem, caller: Caller) -> bytes:
    """Plans the papers from the routes stored with the order; postage follows the current price table."""
    if item.eddm is None:
        raise NotFound(
            _("The item was not ordered for an EDDM selection: it has no papers."),
            code="eddm_papers_not_found",
        )
    with RENDERINGS.slot(caller.key):
        sheets = make_sheets(
            _make_mailing(item),
            plan_drops(_list_routes(item), full=settings.EDDM_BUNDLE_PIECES),
            load_postage(),
        )
        forms = filled_forms(sheets)
        sheets["forms"], sheets["note"] = forms.count, forms.note
        papers = _typeset_papers(sheets, item)
        return append_forms(papers, [forms.content] if forms.content else [])


def _typeset_papers(sheets: dict[str, Any], item: OrderItem) -> bytes:
    try:
        return render_document(LAYOUT, sheets, timestamp=int(item.order.created.timestamp()), seconds=SECONDS)
    except RenderingTimedOut as error:
        message = f"The papers have {len(sheets['slips']):,} facing slips, too many for one file; order fewer routes."
        raise PapersUnusable(message) from error
    except RenderingFailed as error:
        logger.error("EDDM papers could not be rendered", exc_info=error)
        raise PapersUnusable("The papers of this item cannot be rendered.") from error


def _list_routes(item: OrderItem) -> list[DropRoute]:
    return [
        DropRoute(route.postal_code, route.carrier_route, printable(route.entry_office), route.pieces)
        for route in drop_routes(item.eddm or {})
        if route.pieces
    ]


def _make_mailing(item: OrderItem) -> Mailing:
    order, stored = item.order, item.eddm or {}
    width, height, weight, thickness = Product.objects.values_list(
        "width_mm", "height_mm", "piece_weight_g", "thickness_mm"
    ).get(pk=item.product_id)
    ready = ship_day(order, is_mailing=True)

    def day_date(day: int) -> date:
        """The first drop is on the day after the pieces are produced on which post offices are open."""
        return add_post_days(ready, day)

    return Mailing(
        order_number=str(order.number),
        item_key=item.item_key,
        product=printable(item.product_name),
        preparer=printable(order.store.company_name),
        mailer=printable(address_lines(order.recipient)),
        phone=printable(order.recipient.get("Phone", "")),
        company=printable(order.recipient.get("Company", "")),
        email=printable(order.recipient.get("Email", "")),
        size_mm=(width, height),
        piece_weight_g=weight,
        thickness_mm=thickness,
        crid=settings.EDDM_CRID,
        payment=printable(settings.EDDM_PAYMENT),
        vintage=stored["Vintage"],
        day_date=day_date,
        is_residential_only=stored["ResidentialOnly"],
        is_synthetic=stored["IsSynthetic"],
        is_test=order.is_test,
    )
