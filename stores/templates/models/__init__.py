from stores.templates.models.font import Font

__all__ = ["Font"]
