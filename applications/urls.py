from applications.oauth.urls import urlpatterns

__all__ = ["urlpatterns"]
