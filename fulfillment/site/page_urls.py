"""The portal: the guide, and the `page_urls` of each app."""

from django.urls import path
from django.views.decorators.cache import cache_control
from django.views.i18n import JavaScriptCatalog

from fulfillment.core.plugins import offered
from fulfillment.site.pages import download_package, show_clients, show_guide

app_name = "portal"

urlpatterns = [
    # Pages in other languages than English name theirs in the query, for caches.
    path(
        "jsi18n",
        cache_control(private=True, max_age=3600)(JavaScriptCatalog.as_view()),
        name="javascript-catalog",
    ),
    path("guide", show_guide, name="guide"),
    path("clients", show_clients, name="clients"),
    path("clients/<str:name>", download_package, name="client-package"),
    *(pattern for patterns in offered("page_urls", "urlpatterns") for pattern in patterns),
]
