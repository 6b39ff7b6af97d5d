from accounts.admin.association_requests import AssociationRequestAdmin
from accounts.admin.history import (
    AssociationRequestHistoryAdmin,
    RoleHistoryAdmin,
    SubscriptionKeyHistoryAdmin,
    UserHistoryAdmin,
)
from accounts.admin.roles import RoleAdmin
from accounts.admin.subscriptions import SubscriptionAdmin
from accounts.admin.tenants import TenantAdmin
from accounts.admin.users import UserAdmin

__all__ = [
    "AssociationRequestAdmin",
    "AssociationRequestHistoryAdmin",
    "RoleAdmin",
    "RoleHistoryAdmin",
    "SubscriptionAdmin",
    "SubscriptionKeyHistoryAdmin",
    "TenantAdmin",
    "UserAdmin",
    "UserHistoryAdmin",
]
