"""Saved views of the list of orders."""

from urllib.parse import parse_qsl, urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.admin.staff import StaffAdmin, staff_on
from accounts.permissions import ORDER_GRANTS
from fulfillment.core.page_messages import errors_as_messages
from stores.catalog.models import Store
from stores.orders.admin.list_filters import COLUMNS, SORT, VIEW
from stores.orders.admin.list_page import FILTER_NAMES
from stores.orders.services.saved_views import delete_order_view, save_order_view, view_too_long

BOARD = "admin:stores_order_changelist"


class SavedViews(StaffAdmin):
    def save_view(self, request: HttpRequest) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        query = ""
        with errors_as_messages(request):
            query = _view_query(request.POST.get("query", ""))
            view = save_order_view(
                owner=request.user,
                name=request.POST.get("name", ""),
                query=query,
                is_shared="is_shared" in request.POST and self._may_share(request, query),
                store_pk=self._shared_store(request, query),
            )
            messages.success(request, _("View “%(name)s” saved.") % {"name": view.name})
            query = f"{VIEW}={view.pk}&{query}"
        return HttpResponseRedirect(f"{reverse(BOARD)}?{query}")

    def forget_view(self, request: HttpRequest, view_id: int) -> HttpResponse:
        with errors_as_messages(request):
            name = delete_order_view(owner=request.user, view_id=view_id)
            messages.success(request, _("View “%(name)s” deleted.") % {"name": name})
        return HttpResponseRedirect(reverse(BOARD))

    def _may_share(self, request: HttpRequest, query: str) -> bool:
        stores = staff_on(request).stores_with(ORDER_GRANTS)
        return stores is None or self._shared_store(request, query) is not None

    def _shared_store(self, request: HttpRequest, query: str) -> int | None:
        """The store whose staff see a shared view: the user's only store, or the one the list is filtered by."""
        stores = staff_on(request).stores_with(ORDER_GRANTS)
        if stores is None:
            return None
        if len(stores) == 1:
            return stores[0]
        matching_stores = Store.objects.filter(
            external_id=dict(parse_qsl(query)).get("store", ""), pk__in=stores
        )
        return matching_stores.values_list("pk", flat=True).first()


def _view_query(query: str) -> str:
    """Filters, sort and columns of the query; a view stores nothing else."""
    stored = {*FILTER_NAMES, SORT, COLUMNS}
    try:
        parameters = parse_qsl(query, max_num_fields=100)
    except ValueError as error:
        raise view_too_long() from error
    return urlencode([(name, value) for name, value in parameters if name in stored])
