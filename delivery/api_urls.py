from django.urls import path

from delivery.datasets.api import EddmViewSet
from delivery.selection.api import EddmSelectionViewSet

urlpatterns = [
    path("delivery/eddm", EddmViewSet.as_view({"get": "list"}), name="eddm-list"),
    path(
        "delivery/eddm/selection",
        EddmSelectionViewSet.as_view({"post": "create"}),
        name="eddm-selection-list",
    ),
    path(
        "delivery/eddm/selection/<selection_id>",
        EddmSelectionViewSet.as_view({"get": "retrieve"}),
        name="eddm-selection-detail",
    ),
]
