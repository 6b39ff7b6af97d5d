from accounts.admin.association_requests import AssociationRequestAdmin
from accounts.admin.roles import RoleAdmin
from accounts.admin.subscriptions import SubscriptionAdmin
from accounts.admin.users import TenantAdmin, UserAdmin
