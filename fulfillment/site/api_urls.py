"""Every operation of the API, below /api/v1/."""

from django.urls import path

import accounts.api.routes
import applications.api.routes
import delivery.api.routes
import stores.api.routes
from stores.associations.api.associations import AssociationViewSet

app_name = "api"
# Tried in this order: the busiest first.
urlpatterns = [
    *stores.api.routes.urlpatterns,
    *delivery.api.routes.urlpatterns,
    *accounts.api.routes.urlpatterns,
    *applications.api.routes.urlpatterns,
    path(
        "association",
        AssociationViewSet.as_view({"get": "list", "post": "create"}),
        name="association-list",
    ),
    path(
        "association/<str:association_id>",
        AssociationViewSet.as_view({"get": "retrieve"}),
        name="association-detail",
    ),
    *(
        path(
            f"association/<str:association_id>/{action}",
            AssociationViewSet.as_view({"post": action}),
            name=f"association-{action}",
        )
        for action in ("withdraw", "approve", "deny")
    ),
]
