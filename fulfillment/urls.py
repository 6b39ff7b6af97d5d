from django.contrib import admin
from django.urls import include, path, re_path

from fulfillment.core.api.errors import unknown_path
from fulfillment.core.api.schema import serve_schema
from fulfillment.core.http.secret_links import mask_links
from fulfillment.core.plugins import offered
from fulfillment.core.reference import views as reference
from fulfillment.site.development import show_mails
from fulfillment.site.metrics import healthz, readyz, show_metrics
from fulfillment.site.pages import handler400, handler403, handler404, handler500

__all__ = ["handler400", "handler403", "handler404", "handler500", "urlpatterns"]

# The most frequent ones first.
urlpatterns = [
    path("api/v1/", include("fulfillment.site.api_urls")),
    path("api/v1/schema", serve_schema, name="schema"),
    path("api/v1/docs", include("fulfillment.core.reference.urls")),
    re_path(r"^api/(?!v1/docs)", unknown_path),
    path("llms.txt", reference.show_index),
    path("llms-full.txt", reference.show_whole),
    path("changelog.atom", reference.show_feed),
    path(".well-known/api-catalog", reference.show_catalog),
    # Addresses outside of the API and the portal: sign-in, OAuth, signed files.
    *(pattern for patterns in offered("urls", "urlpatterns") for pattern in patterns),
    path("", include("fulfillment.site.page_urls")),
    # One sign-in page for all, with its limits and the second factor.
    path("admin/", admin.site.urls),
    path("healthz", healthz),
    path("readyz", readyz),
    path("metrics", show_metrics),
    path("dev/mail", show_mails, name="development-mail"),
]

mask_links(urlpatterns)
