from applications.registration.admin.applications import ApplicationAdmin

__all__ = ["ApplicationAdmin"]
