from django.urls import path

from delivery.datasets.api.eddm import EddmViewSet

urlpatterns = [
    path("delivery/eddm", EddmViewSet.as_view({"get": "list"}), name="eddm-list"),
]
