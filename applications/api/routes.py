from django.urls import path

from applications.api.applications import ApplicationViewSet
from applications.api.icons import IconViewSet
from applications.api.keys import KeyViewSet

urlpatterns = [
    path(
        "application",
        ApplicationViewSet.as_view({"get": "list", "post": "create"}),
        name="application-list",
    ),
    path(
        "application/<str:application_id>",
        ApplicationViewSet.as_view({"get": "retrieve", "patch": "partial_update"}),
        name="application-detail",
    ),
    path(
        "application/<str:application_id>/key/<str:key_id>/regenerate",
        KeyViewSet.as_view({"patch": "regenerate"}),
        name="application-key-regenerate",
    ),
    path(
        "application/<str:application_id>/icon",
        IconViewSet.as_view({"get": "retrieve", "post": "create"}),
        name="application-icon",
    ),
]
