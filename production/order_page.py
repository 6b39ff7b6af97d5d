"""The section of an order's page on its jobs."""

from django.http import HttpRequest

from fulfillment.core.plugins import DashboardCard
from stores.orders.models import Order


def order_sections(request: HttpRequest, order: Order) -> list[DashboardCard]:
    jobs = list(order.jobs.select_related("provider", "item").order_by("item__position")[:200])
    return [DashboardCard("admin/production/order_jobs.html", {"jobs": jobs}, 100)] if jobs else []
