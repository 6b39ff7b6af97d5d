from django.urls import include, path, re_path

from fulfillment.api.errors import unknown_path

urlpatterns = [
    path("api/v1/", include("fulfillment.api.routes")),
    re_path(r"^api/", unknown_path),
]
