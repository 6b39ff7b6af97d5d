from accounts.services.retention import retention_rules

__all__ = ["retention_rules"]
