"""The queue of orders that wait for approval, and the decision on one or on several equal ones."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from accounts.admin.staff import StaffAdmin, staff_on
from accounts.permissions import ORDER_GRANTS, Permission
from fulfillment.core.admin.base import ExtraPage
from fulfillment.core.errors import DomainError
from fulfillment.core.files.downloads import serves_picture
from fulfillment.core.page_messages import say_refused
from fulfillment.core.text import parse_uuid
from stores.orders.admin.actions import shown_reason
from stores.orders.admin.actors import actor_on
from stores.orders.admin.approval_cards import RequestCard, request_cards
from stores.orders.admin.downloads import picture_of_item
from stores.orders.models import ApprovalRequest, OrderItem
from stores.orders.selectors.orders import history_of
from stores.orders.services.approvals import approve_order, deny_order
from stores.orders.services.print_files import print_file_pages

QUEUE = "admin:stores_approvalrequest_changelist"
PAGES_SHOWN = 20


class StateFilter(admin.SimpleListFilter):
    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("decided", _("Decided"))]

    def choices(self, changelist: Any) -> Iterator[Any]:
        every, decided = super().choices(changelist)
        yield {**every, "display": _("Pending")}
        yield decided

    def queryset(self, request: HttpRequest, records: QuerySet) -> QuerySet:
        return records.filter(decided__isnull=self.value() != "decided")


@admin.register(ApprovalRequest)
class ApprovalRequestAdmin(StaffAdmin):
    """The queue of approvers: the proof beside the order, and the decision."""

    store_path = "order__store"
    view_grants = (Permission.ORDER_ALL_APPROVE,)
    forbidden = ("add", "change", "delete")
    harmless_pages = ("decide", "picture")
    # For the columns that are searched; the template shows cards.
    list_display = ["order", "requested", "expires"]
    list_filter = [StateFilter]
    search_fields = ["order__number"]
    exact_search = {"order__number": int}
    search_help_text = "Order number"
    list_select_related = ("order",)
    change_list_template = "admin/stores/approvals.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[ApprovalRequest]:
        requests = (
            super()
            .get_queryset(request)
            .select_related("order__store", "order__application", "order__user", "decided_by")
        )
        return requests.defer(
            "order__rendering",
            "order__metadata",
            "order__store__rendering",
            "order__store__verbose_rendering",
        )

    def get_ordering(self, request: HttpRequest) -> list[str]:
        return ["-decided"] if request.GET.get("state") == "decided" else ["expires", "order"]

    def extra_pages(self) -> list[ExtraPage]:
        return [
            ("decide/", require_POST(self.decide), "decide"),
            (
                "<uuid:order_id>/item/<int:position>/<int:page>-<slug:size>.png",
                self.picture,
                "picture",
            ),
        ]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        response = super().changelist_view(request, extra_context)
        if isinstance(response, TemplateResponse) and response.context_data and "cl" in response.context_data:
            changelist = response.context_data["cl"]
            response.context_data |= {
                "cards": request_cards(changelist.result_list, viewer_id=request.user.pk),
                "is_decided": request.GET.get("state") == "decided",
                **self._links(request),
            }
        return response

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        approval = get_object_or_404(self.get_queryset(request), pk=parse_uuid(object_id))
        [card] = request_cards([approval], viewer_id=request.user.pk)
        context = {
            **self.page_context(request, str(approval), object=approval, change=True),
            **self._links(request),
            "card": card,
            "pages": _list_pages(card),
            "history": history_of(approval.order).select_related("actor").order_by("-sequence"),
        }
        return TemplateResponse(request, "admin/stores/approval.html", context)

    @serves_picture
    def picture(
        self, request: HttpRequest, order_id: UUID, position: int, page: int, size: str
    ) -> HttpResponse:
        approval = get_object_or_404(self.get_queryset(request), pk=order_id)
        return picture_of_item(request, approval.order, position, page, size)

    def decide(self, request: HttpRequest) -> HttpResponse:
        """Decides the chosen requests of one card; each is decided on its own."""
        keys = [key for text in request.POST.getlist("order") if (key := parse_uuid(text))]
        requests = self.get_queryset(request).filter(pk__in=keys).order_by("expires", "order")
        cards = request_cards(requests, viewer_id=request.user.pk)
        if len(cards) == 1:
            self._decide(request, cards[0])
        elif cards:
            messages.error(
                request, _("You can decide orders together only if they are equal. Nothing was decided.")
            )
        else:
            messages.error(request, _("Select the orders to decide first."))
        return HttpResponseRedirect(reverse(QUEUE))

    def _decide(self, request: HttpRequest, card: RequestCard) -> None:
        note, is_approval = (
            request.POST.get("note", "").strip()[:1000],
            request.POST.get("decision") == "approve",
        )
        if not is_approval and not note:
            messages.error(request, _("A denial needs a reason: the person who ordered reads it."))
            return
        decided = []
        for member in card.members:
            order, etags = member.request.order, [request.POST.get(f"seen-{member.request.pk}", "")]
            try:
                if is_approval:
                    approve_order(order=order, actor=actor_on(request), note=note, if_match=etags)
                else:
                    deny_order(order=order, actor=actor_on(request), reason=note, if_match=etags)
            except DomainError as error:
                say_refused(request, shown_reason(error), about=order)
            else:
                decided.append(str(order))
        if decided:
            message = (
                ngettext("Order %(numbers)s approved.", "Orders %(numbers)s approved.", len(decided))
                if is_approval
                else ngettext("Order %(numbers)s denied.", "Orders %(numbers)s denied.", len(decided))
            )
            messages.success(request, message % {"numbers": ", ".join(decided)})

    def _links(self, request: HttpRequest) -> dict[str, Any]:
        """Which other pages the viewer may open."""
        staff = staff_on(request)
        return {"sees_orders": staff.holds(ORDER_GRANTS), "is_operator": staff.is_operator}


def _list_pages(card: RequestCard) -> list[tuple[OrderItem, list[float]]]:
    """The items with a proof, each with the widths of its pages in mm; at most PAGES_SHOWN pages together."""
    pages: list[tuple[OrderItem, list[float]]] = []
    remaining = PAGES_SHOWN
    # Many items may have the same print file.
    widths_by_file: dict[str, list[float]] = {}
    items = card.order.items.exclude(print_file="").order_by("position")
    for item in items.defer("template_data", "artwork", "eddm")[:PAGES_SHOWN]:
        try:
            if item.print_sha256 not in widths_by_file:
                widths_by_file[item.print_sha256] = [width for _, _, width, _ in print_file_pages(item=item)]
        except DomainError:
            continue
        widths = widths_by_file[item.print_sha256][:remaining]
        pages.append((item, widths))
        remaining -= len(widths)
        if remaining <= 0:
            break
    return pages
