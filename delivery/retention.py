from delivery.datasets.services.retention import retention_rules

__all__ = ["retention_rules"]
