from django.urls import path

from applications.webhooks.pages.deliveries import (
    check_signature,
    resend,
    resend_chosen,
    send_test,
    show_delivery,
    show_webhook,
)
from applications.webhooks.pages.webhooks import (
    delete,
    edit_webhook,
    enable,
    list_webhooks,
    new_webhook,
    rotate,
)

ALL = "applications/<str:application_id>/webhooks"
ONE = f"{ALL}/<str:webhook_id>"

urlpatterns = [
    path(ALL, list_webhooks, name="application-webhooks"),
    path(f"{ALL}/new", new_webhook, name="webhook-new"),
    path(ONE, show_webhook, name="webhook"),
    path(f"{ONE}/edit", edit_webhook, name="webhook-edit"),
    path(f"{ONE}/enable", enable, name="webhook-enable"),
    path(f"{ONE}/secret", rotate, name="webhook-secret"),
    path(f"{ONE}/test", send_test, name="webhook-test"),
    path(f"{ONE}/delete", delete, name="webhook-delete"),
    path(f"{ONE}/signature", check_signature, name="webhook-signature"),
    path(f"{ONE}/resend", resend_chosen, name="deliveries-resend"),
    path(f"{ONE}/deliveries/<str:event_id>", show_delivery, name="delivery"),
    path(f"{ONE}/deliveries/<str:event_id>/resend", resend, name="delivery-resend"),
]
