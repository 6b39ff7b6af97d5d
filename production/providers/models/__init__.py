from production.providers.models.provider import Provider

__all__ = ["Provider"]
