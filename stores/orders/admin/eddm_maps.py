"""The routes of an order item on a map."""

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse

from accounts.callers import Caller
from delivery.concurrency_limits import SELECTIONS
from delivery.selection.maps import tiles_context, with_tiles
from fulfillment.core.api.responses import json_bytes
from fulfillment.core.errors import DomainError
from fulfillment.core.http.policies import ADMIN_POLICY
from stores.orders.admin.documents import OrderDocuments
from stores.orders.eddm import drop_routes
from stores.orders.models import OrderItem
from stores.orders.selectors.eddm_maps import routes_on_map

MAX_LISTED = 500


class OrderMaps(OrderDocuments):
    def eddm_map(self, request: HttpRequest, order_id: UUID, position: int) -> HttpResponse:
        item = self._mailed(request, order_id, position)
        routes = list(drop_routes(item.eddm or {}))
        context: dict[str, Any] = {
            **self.page_context(request, f"Routes of order {item.order.number}"),
            **tiles_context(),
            "order": item.order,
            "item": item,
            "eddm": item.eddm_summary,
            "routes": routes[:MAX_LISTED],
            "route_count": len(routes),
            "map_routes": reverse("admin:stores_order_eddm_shapes", args=[order_id, position]),
        }
        response = TemplateResponse(request, "admin/stores/eddm_map.html", context)
        with_tiles(response, ADMIN_POLICY)
        return response

    def eddm_shapes(self, request: HttpRequest, order_id: UUID, position: int) -> HttpResponse:
        item = self._mailed(request, order_id, position)
        try:
            with SELECTIONS.limited(Caller.on_pages(request.user).key):
                return json_bytes(request, routes_on_map(item))
        except DomainError as error:
            return HttpResponse(error.message, status=error.status, content_type="text/plain")

    def _mailed(self, request: HttpRequest, order_id: UUID, position: int) -> OrderItem:
        item = self._item(request, order_id, position)
        if item.eddm is None:
            raise Http404("This item was not ordered for routes.")
        return item
