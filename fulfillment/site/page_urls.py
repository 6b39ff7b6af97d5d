"""The portal: the guide, and the `pages.urls` of each app."""

from django.urls import path

from fulfillment.core.plugins import offered
from fulfillment.site.pages import show_guide

app_name = "portal"

urlpatterns = [
    path("guide", show_guide, name="guide"),
    *(pattern for patterns in offered("pages.urls", "urlpatterns") for pattern in patterns),
]
