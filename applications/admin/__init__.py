from applications.admin.applications import ApplicationAdmin
from applications.admin.history import ApplicationHistoryAdmin, ApplicationKeyHistoryAdmin
from applications.admin.tokens import AccessTokenAdmin, RefreshTokenAdmin

__all__ = [
    "AccessTokenAdmin",
    "ApplicationAdmin",
    "ApplicationHistoryAdmin",
    "ApplicationKeyHistoryAdmin",
    "RefreshTokenAdmin",
]
