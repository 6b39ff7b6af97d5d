from django.contrib import admin
from django.urls import include, path, re_path

from fulfillment import health
from fulfillment.api import console
from fulfillment.api.errors import unknown_path
from fulfillment.api.schema import serve_schema
from fulfillment.metrics import show_metrics
from fulfillment.pages import handler400, handler403, handler404, handler500

__all__ = ["handler400", "handler403", "handler404", "handler500", "urlpatterns"]

# Tried in this order: the busiest first.
urlpatterns = [
    path("api/v1/", include("fulfillment.api.routes")),
    path("api/v1/schema", serve_schema, name="schema"),
    path("api/v1/docs", console.show_console, name="api-console"),
    path("api/v1/docs/oauth2-redirect", console.finish_sign_in),
    re_path(r"^api/", unknown_path),
    path("", include("applications.oauth.urls")),
    path("", include("stores.pages.file_urls")),
    path("", include("fulfillment.pages_urls")),
    path("accounts/", include("accounts.pages.urls")),
    # One way to sign in, with its limits and its second factor.
    path("admin/", admin.site.urls),
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("metrics", show_metrics),
]
