"""The service's addresses with the delivery operation, wherever it is included."""

from django.urls import include, path

import fulfillment.urls

urlpatterns = [path("api/v1/", include("delivery.api.routes")), *fulfillment.urls.urlpatterns]
