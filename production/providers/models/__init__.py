from production.providers.models.provider import AdapterKind, Provider

__all__ = ["AdapterKind", "Provider"]
