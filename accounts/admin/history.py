from django.contrib import admin

from accounts.models import AssociationRequest, Role, SubscriptionKey, Tenant, User
from fulfillment.core.admin.read_only import HistoryAdmin


@admin.register(Role.pgh_event_model)  # type: ignore[attr-defined]
class RoleHistoryAdmin(HistoryAdmin):
    shown = ("grant", "user_id", "application_id", "store_id")
    search_fields = ["=user__username", "=application__client_id", "=store__external_id"]
    search_help_text = "User name, client ID or StoreID, written out"


@admin.register(AssociationRequest.pgh_event_model)  # type: ignore[attr-defined]
class AssociationRequestHistoryAdmin(HistoryAdmin):
    shown = ("state", "application_id", "store_id", "user_id", "grants")
    search_fields = ["=application__client_id", "=store__external_id"]
    search_help_text = "Client ID or StoreID, written out"


@admin.register(SubscriptionKey.pgh_event_model)  # type: ignore[attr-defined]
class SubscriptionKeyHistoryAdmin(HistoryAdmin):
    shown = ("subscription_id", "slot", "regenerated")
    search_fields = ["=subscription__user__username", "=subscription__application__client_id"]
    search_help_text = "User name or client ID, written out"


@admin.register(User.pgh_event_model)  # type: ignore[attr-defined]
class UserHistoryAdmin(HistoryAdmin):
    shown = ("username", "email", "is_operator", "is_active")
    search_fields = ["=username", "=email"]
    search_help_text = "User name or e-mail, written out"


@admin.register(Tenant.pgh_event_model)  # type: ignore[attr-defined]
class TenantHistoryAdmin(HistoryAdmin):
    shown = ("domain", "name")
    search_fields = ["=domain", "name"]
    search_help_text = "Domain, written out, or name"
