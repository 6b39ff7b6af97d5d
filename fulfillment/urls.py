from django.contrib import admin
from django.urls import include, path, re_path
from django.views.decorators.cache import cache_control
from django.views.i18n import JavaScriptCatalog

from fulfillment.core.api.errors import unknown_path
from fulfillment.core.api.schema import serve_schema
from fulfillment.core.http.addresses import mask_links
from fulfillment.core.plugins import offered_values
from fulfillment.core.reference import views as reference
from fulfillment.site.development import show_mails
from fulfillment.site.metrics import healthz, readyz, show_metrics
from fulfillment.site.pages import (
    download_package,
    handler400,
    handler403,
    handler404,
    handler500,
    show_clients,
    show_guide,
)

__all__ = ["handler400", "handler403", "handler404", "handler500", "urlpatterns"]

# Reversed: the last app, stores, has the most frequent operations.
API = [pattern for patterns in reversed(offered_values("api_urls", "urlpatterns")) for pattern in patterns]
PORTAL = [
    # Pages in other languages than English name theirs in the query, for caches.
    path(
        "jsi18n",
        cache_control(private=True, max_age=3600)(JavaScriptCatalog.as_view()),
        name="javascript-catalog",
    ),
    path("guide", show_guide, name="guide"),
    path("clients", show_clients, name="clients"),
    path("clients/<str:name>", download_package, name="client-package"),
    *(pattern for patterns in offered_values("page_urls", "urlpatterns") for pattern in patterns),
]
# The most frequent ones first.
urlpatterns = [
    path("api/v1/", include((API, "api"))),
    path("api/v1/schema", serve_schema, name="schema"),
    path("api/v1/docs", include((reference.PAGES, "reference"))),
    re_path(r"^api/(?!v1/docs)", unknown_path),
    path("llms.txt", reference.show_index),
    path("llms-full.txt", reference.show_whole),
    path("changelog.atom", reference.show_feed),
    path(".well-known/api-catalog", reference.show_catalog),
    # Addresses outside of the API and the portal: sign-in, OAuth, signed files.
    *(pattern for patterns in offered_values("urls", "urlpatterns") for pattern in patterns),
    path("", include((PORTAL, "portal"))),
    # One sign-in page for all, with its limits and the second factor.
    path("admin/", admin.site.urls),
    path("healthz", healthz),
    path("readyz", readyz),
    path("metrics", show_metrics),
    path("dev/mail", show_mails, name="development-mail"),
]

mask_links(urlpatterns)
