from django.urls import path

from delivery.selection.pages.chooser import list_routes_in_view
from delivery.selection.pages.saved import download_selection, list_shapes, show_mailing, show_selection

urlpatterns = [
    path("mailings", show_mailing, name="mailing"),
    path("mailings/routes", list_routes_in_view, name="mailing-routes"),
    path("mailings/<str:selection_id>/shapes", list_shapes, name="mailing-shapes"),
    path("mailings/<str:selection_id>", show_selection, name="mailing-selection"),
    path("mailing-files/<str:selection_id>.csv", download_selection, name="mailing-csv"),
]
