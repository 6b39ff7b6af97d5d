from applications.admin.applications import ApplicationAdmin
from applications.admin.tokens import AccessTokenAdmin, RefreshTokenAdmin

__all__ = ["AccessTokenAdmin", "ApplicationAdmin", "RefreshTokenAdmin"]
