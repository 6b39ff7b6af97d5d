"""Comments on orders, and reprints."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _

from accounts.admin.staff import StaffAdmin
from accounts.callers import Caller
from fulfillment.core.page_messages import errors_as_messages
from fulfillment.core.text import parse_number
from stores.orders.models import Order, OrderItem
from stores.orders.services.comments import add_comment
from stores.orders.services.reprints import reprint_order


class CommentsAndReprints(StaffAdmin):
    def comment(self, request: HttpRequest, order_id: UUID) -> HttpResponse:
        order = self.record_for(request, order_id)
        with errors_as_messages(request):
            add_comment(order=order, author_id=request.user.pk, text=request.POST.get("comment", ""))
        return HttpResponseRedirect(f"{self.address_of(order)}#timeline")

    def reprint(self, request: HttpRequest, order_id: UUID) -> HttpResponse:
        """GET shows what would be printed again; POST orders it."""
        order: Order = self.record_for(request, order_id)
        if request.method == "POST":
            positions = [
                position
                for text in request.POST.getlist("item")
                if (position := parse_number(text)) is not None
            ]
            reprints = parse_number(request.POST.get("reprints", ""))
            with errors_as_messages(request):
                reprint = reprint_order(
                    order=order,
                    positions=positions,
                    caller=Caller.on_pages(request.user),
                    known_reprints=-1 if reprints is None else reprints,
                )
                messages.success(
                    request,
                    _("Order %(number)s created. It prints order %(original)s again.")
                    % {"number": reprint.number, "original": order.number},
                )
                return HttpResponseRedirect(self.address_of(reprint))
        context: dict[str, Any] = {
            **self.page_context(
                request, _("Reprint order %(number)s") % {"number": order.number}, below=order
            ),
            "order": order,
            "items": order.items.order_by("position").defer(*OrderItem.LARGE),
            "reprints": order.reprints.count(),
        }
        return TemplateResponse(request, "admin/stores/reprint.html", context)
