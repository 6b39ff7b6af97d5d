from django.urls import path

from applications.registration.api.applications import ApplicationViewSet, IconViewSet, KeyViewSet
from applications.registration.api.requests import RequestLogViewSet
from applications.webhooks.api.events import EventViewSet
from applications.webhooks.api.webhooks import DeliveryViewSet, WebhookViewSet

WEBHOOK = "application/<str:application_id>/webhook"

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
    path("application/<str:application_id>/event", EventViewSet.as_view({"get": "list"}), name="event-list"),
    path(
        "application/<str:application_id>/request",
        RequestLogViewSet.as_view({"get": "list"}),
        name="request-list",
    ),
    path(WEBHOOK, WebhookViewSet.as_view({"get": "list", "post": "create"}), name="webhook-list"),
    path(
        f"{WEBHOOK}/<str:webhook_id>",
        WebhookViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
        name="webhook-detail",
    ),
    *(
        path(
            f"{WEBHOOK}/<str:webhook_id>/{action}",
            WebhookViewSet.as_view({"post": action.replace("-", "_")}),
            name=f"webhook-{action}",
        )
        for action in ("rotate-secret", "test", "enable", "recover")
    ),
    path(
        f"{WEBHOOK}/<str:webhook_id>/delivery",
        DeliveryViewSet.as_view({"get": "list"}),
        name="delivery-list",
    ),
    path(
        f"{WEBHOOK}/<str:webhook_id>/delivery/<str:delivery_id>/resend",
        DeliveryViewSet.as_view({"post": "resend"}),
        name="delivery-resend",
    ),
]
