from accounts.admin.association_requests import AssociationRequestAdmin
from accounts.admin.roles import RoleAdmin
from accounts.admin.subscriptions import SubscriptionAdmin
from accounts.admin.tenants import TenantAdmin
from accounts.admin.users import UserAdmin

__all__ = [
    "AssociationRequestAdmin",
    "RoleAdmin",
    "SubscriptionAdmin",
    "TenantAdmin",
    "UserAdmin",
]
