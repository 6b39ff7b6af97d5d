"""Navigation, search and dashboard of this app in the operator console."""

from collections.abc import Callable, Sequence
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_noop as _
from django.utils.translation import ngettext

from accounts.admin.staff import staff_on
from accounts.permissions import ORDER_GRANTS
from fulfillment.core.admin.search import CANDIDATES, record_hits, visible_records
from fulfillment.core.plugins import Attention, DashboardCard, MenuItem, SearchResult
from fulfillment.core.text import method_name, parse_uuid
from stores.budgets.selectors.budgets import wrong_balances
from stores.catalog.admin.scoping import find_products, find_stores
from stores.catalog.models import Product
from stores.orders.admin.orders_chart import calls_chart, orders_chart
from stores.orders.models import ApprovalRequest, Order, OrderStatus, Quote
from stores.orders.selectors.access import APPROVE
from stores.orders.selectors.approvals import undecided_requests
from stores.orders.selectors.board import count_urgent, daily_counts, orders_by_status
from stores.orders.selectors.search import search_orders

# Counts stop here.
MAX_COUNTED = 1000
WORK_TO_DO = (
    OrderStatus.RECEIVED,
    OrderStatus.ON_HOLD,
    OrderStatus.ACCEPTED,
    OrderStatus.IN_PRODUCTION,
    OrderStatus.PARTIALLY_SHIPPED,
)
NAVIGATION = [
    MenuItem(_("Work"), _("Orders"), "shopping_cart", "stores.order", 105),
    MenuItem(_("Work"), _("Approvals"), "approval", "stores.approvalrequest", 106),
    MenuItem(_("Orders"), _("Quotes"), "request_quote", "stores.quote", 110, minor=True),
    MenuItem(_("Orders"), _("Batches"), "upload_file", "stores.batch", 115, minor=True),
    MenuItem(_("Catalog"), _("Stores"), "storefront", "stores.store", 200),
    MenuItem(_("Catalog"), _("Budgets"), "savings", "stores.budget", 202),
    MenuItem(_("Catalog"), _("Cost centers"), "groups", "stores.costcenter", 203, minor=True),
    MenuItem(_("Catalog"), _("Products"), "sell", "stores.product", 205),
    MenuItem(_("Catalog"), _("Catalog imports"), "upload_file", "stores.catalogupload", 210, minor=True),
    MenuItem(_("Catalog"), _("Fonts"), "font_download", "stores.font", 215, minor=True),
    MenuItem(_("Catalog"), _("Print presets"), "print", "stores.printpreset", 220, minor=True),
    MenuItem(_("Catalog"), _("Output profiles"), "palette", "stores.outputprofile", 225, minor=True),
]
# By model: what the list is for, on the page *System*.
ABOUT = {
    "stores.quote": _("Prices that were offered and bind for 48 hours."),
    "stores.batch": _("Files of rows that are checked and ordered together."),
    "stores.costcenter": _("The parts of a company that budgets and orders belong to."),
    "stores.catalogupload": _("Product files that were uploaded, with what each changed."),
    "stores.font": _("Typefaces that templates may use."),
    "stores.printpreset": _("How print files are made: marks, bleed and colors."),
    "stores.outputprofile": _("ICC profiles that colors are converted to."),
}
# What a result shows of the recipient.
RECIPIENT = ("Name", "Company", "City")


def search(request: HttpRequest, words: str) -> list[SearchResult]:
    finders = (find_orders, find_stores, find_products, find_quotes)
    return [hit for find in finders for hit in find(request, words)]


def needs_attention(request: HttpRequest) -> list[Attention]:
    staff = staff_on(request)
    if not staff.holds((*ORDER_GRANTS, *APPROVE)):
        return []
    orders = staff.visible(Order.objects.all(), "store", ORDER_GRANTS)
    budgets = wrong_balances(staff.stores_with(ORDER_GRANTS))
    late, cancellations, approvals, wrong = count_urgent(
        orders, _approvals_pending(request), budgets, most=MAX_COUNTED
    )
    board, queue = (
        reverse("admin:stores_order_changelist"),
        reverse("admin:stores_approvalrequest_changelist"),
    )
    differing = f"{reverse('admin:stores_budget_changelist')}?differs=yes"
    entries = [
        _attention(
            wrong,
            ngettext("budget differs from its entries", "budgets differ from their entries", wrong),
            differing,
            50,
        ),
        _attention(late, ngettext("late order", "late orders", late), f"{board}?due=late", 100),
        _attention(
            approvals, ngettext("order needs approval", "orders need approval", approvals), queue, 150
        ),
        _attention(
            cancellations,
            ngettext("cancellation request pending", "cancellation requests pending", cancellations),
            f"{board}?cancellation__exact=Requested",
            200,
        ),
    ]
    return [entry for entry in entries if entry.count]


def _attention(count: int, words: str, address: str, position: int) -> Attention:
    return Attention(count, words, address, position, is_at_least=count > MAX_COUNTED)


def _approvals_pending(request: HttpRequest) -> QuerySet[ApprovalRequest]:
    """Pending approvals without those that the viewer may not decide."""
    visible = staff_on(request).visible(undecided_requests(), "order__store", APPROVE)
    return visible.exclude(ordered_by__contains=[request.user.pk])


def dashboard_cards(request: HttpRequest) -> list[DashboardCard]:
    stores = staff_on(request).stores_with(ORDER_GRANTS)
    if not staff_on(request).holds(ORDER_GRANTS):
        return []
    counts = daily_counts(stores)
    return [
        DashboardCard("admin/dashboard/orders_chart.html", orders_chart(counts), 50),
        DashboardCard("admin/dashboard/store_calls.html", calls_chart(counts), 490),
        DashboardCard("admin/dashboard/orders.html", _orders(stores), 200),
    ]


def _orders(stores: Sequence[int] | None) -> dict[str, Any]:
    tallies = orders_by_status(stores)
    largest = max(tallies.values(), default=0)
    rows = [
        {
            "code": int(status),
            "name": status.shown,
            "count": tallies.get(status, 0),
            "percent": round(tallies.get(status, 0) * 100 / largest, 2) if largest else 0,
        }
        for status in OrderStatus
    ]
    waiting = sum(tallies.get(status, 0) for status in WORK_TO_DO)
    return {"rows": rows, "waiting": waiting, "total": sum(tallies.values())}


def _name_methods(events: Sequence[Any]) -> Callable[[Any, str], str]:
    return lambda _event, code: method_name(code)


def _name_products(events: Sequence[Any]) -> Callable[[Any, str], str]:
    """Names the products of the stores of these events; a deleted product keeps its ID."""
    products = Product.objects.filter(
        store__in={event.store_id for event in events},
        external_id__in={code for event in events for code in event.product_ids},
    )
    names = {
        (store, code): name for store, code, name in products.values_list("store", "external_id", "name")
    }
    return lambda event, code: names.get((event.store_id, code), code)


# By field: the names that people know codes by, for the audit log.
CODE_NAMES = {
    "stores.order.delivery_method_code": _name_methods,
    "stores.order.product_ids": _name_products,
    "stores.product.delivery_method": _name_methods,
}


def find_orders(request: HttpRequest, words: str) -> list[SearchResult]:
    visible = visible_records(request, Order).order_by("-number")
    matches = search_orders(visible, words, stores=staff_on(request).stores_with(ORDER_GRANTS))
    return record_hits(Order, matches.orders[:CANDIDATES], words, _names_of_order)


def find_quotes(request: HttpRequest, words: str) -> list[SearchResult]:
    if (key := parse_uuid(words)) is None:
        return []
    quotes = visible_records(request, Quote).filter(pk=key)
    return record_hits(
        Quote, quotes, words, lambda quote: (str(quote.pk), str(quote.store), str(quote.application or ""))
    )


def _names_of_order(order: Order) -> list[str]:
    status = OrderStatus(order.status).shown
    mode = ["test order"] if order.is_test else []
    return [
        str(order.number),
        *(order.recipient.get(name, "") for name in RECIPIENT if not order.recipient_erased),
        order.external_id or "",
        *mode,
        status,
        str(order.store),
        *order.tracking_numbers[:3],
    ]
