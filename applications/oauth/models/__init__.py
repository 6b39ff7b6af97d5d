from applications.oauth.models.used_code import UsedCode

__all__ = ["UsedCode"]
