from accounts.admin.access import RoleAdmin, SubscriptionAdmin
from accounts.admin.association_requests import AssociationRequestAdmin
from accounts.admin.users import TenantAdmin, UserAdmin
