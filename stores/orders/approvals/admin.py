from django.contrib import admin

from accounts.admin.staff import StaffAdmin
from accounts.permissions import Grant
from stores.orders.approvals.models import ApprovalRequest


@admin.register(ApprovalRequest)
class ApprovalRequestAdmin(StaffAdmin):
    store_path = "order__store"
    view_grants = (Grant.ORDER_ALL_APPROVE,)
    forbidden = ("add", "change", "delete")
    search_fields = ["order__number"]
    exact_search = {"order__number": int}
    search_help_text = "Order number"
