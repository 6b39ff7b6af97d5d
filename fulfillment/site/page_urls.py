from django.urls import include, path

from fulfillment.site.pages import show_guide, show_home

app_name = "portal"

urlpatterns = [
    path("", show_home, name="home"),
    path("guide", show_guide, name="guide"),
    path("", include("accounts.pages.urls")),
    path("", include("applications.pages.urls")),
    path("", include("applications.webhooks.pages.urls")),
    path("", include("stores.pages.urls")),
]
