from django.urls import path

from fulfillment.pages import show_guide, show_home

app_name = "portal"

urlpatterns = [
    path("", show_home, name="home"),
    path("guide", show_guide, name="guide"),
]
