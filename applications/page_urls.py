"""The portal's addresses of applications, with their keys, owners and webhooks, and of what users authorize."""

from django.urls import path

from applications.oauth.pages.authorizations import revoke, show_authorizations
from applications.oauth.pages.sending import send_request
from applications.registration.pages.applications import (
    edit_application,
    list_applications,
    new_application,
    serve_icon,
    show_application,
    show_icon,
)
from applications.registration.pages.home import (
    join_application,
    show_home,
    try_application,
    withdraw_joining,
)
from applications.registration.pages.keys import (
    change_dates,
    end,
    regenerate,
    regenerate_subscription,
    show_keys,
)
from applications.registration.pages.owners import (
    accept,
    decline,
    remove,
    send_again,
    show_invitation,
    show_owners,
    withdraw,
)
from applications.registration.pages.requests import list_requests, show_performance, show_request
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

ONE = "applications/<str:application_id>"
WEBHOOKS = f"{ONE}/webhooks"
WEBHOOK = f"{WEBHOOKS}/<str:webhook_id>"

urlpatterns = [
    path("", show_home, name="home"),
    path("applications", list_applications, name="applications"),
    path("applications/new", new_application, name="application-new"),
    path("applications/join", join_application, name="application-join"),
    path("applications/join/<str:request_id>/withdraw", withdraw_joining, name="joining-withdraw"),
    path(ONE, show_application, name="application"),
    path(f"{ONE}/settings", edit_application, name="application-edit"),
    path(f"{ONE}/keys", show_keys, name="application-keys"),
    path(f"{ONE}/keys/<str:key_id>/dates", change_dates, name="application-key-dates"),
    path(f"{ONE}/keys/<str:key_id>/regenerate", regenerate, name="application-key-regenerate"),
    path(f"{ONE}/keys/<str:key_id>/end", end, name="application-key-end"),
    path(
        f"{ONE}/subscription/<str:slot>/regenerate",
        regenerate_subscription,
        name="application-subscription-regenerate",
    ),
    path(f"{ONE}/icon", show_icon, name="application-icon"),
    path(f"{ONE}/requests", list_requests, name="application-requests"),
    path(f"{ONE}/requests/performance", show_performance, name="application-performance"),
    path(f"{ONE}/requests/<str:request_id>", show_request, name="application-request"),
    path(f"{ONE}/try", try_application, name="application-try"),
    path(f"{ONE}/owners", show_owners, name="application-owners"),
    path(f"{ONE}/owners/<str:user_id>/remove", remove, name="application-owner-remove"),
    path(f"{ONE}/invitations/<str:invitation_id>/send", send_again, name="invitation-send"),
    path(f"{ONE}/invitations/<str:invitation_id>/withdraw", withdraw, name="invitation-withdraw"),
    path("invitations/<secret:token>", show_invitation, name="invitation"),
    path("invitations/<secret:token>/accept", accept, name="invitation-accept"),
    path("invitations/<secret:token>/decline", decline, name="invitation-decline"),
    path("profile/authorizations", show_authorizations, name="authorizations"),
    path("profile/authorizations/<str:application_id>/revoke", revoke, name="authorization-revoke"),
    path("send/<str:operation_id>", send_request, name="send"),
    path("icons/<str:sha256>.png", serve_icon, name="icon"),
    path(WEBHOOKS, list_webhooks, name="application-webhooks"),
    path(f"{WEBHOOKS}/new", new_webhook, name="webhook-new"),
    path(WEBHOOK, show_webhook, name="webhook"),
    path(f"{WEBHOOK}/edit", edit_webhook, name="webhook-edit"),
    path(f"{WEBHOOK}/enable", enable, name="webhook-enable"),
    path(f"{WEBHOOK}/secret", rotate, name="webhook-secret"),
    path(f"{WEBHOOK}/test", send_test, name="webhook-test"),
    path(f"{WEBHOOK}/delete", delete, name="webhook-delete"),
    path(f"{WEBHOOK}/signature", check_signature, name="webhook-signature"),
    path(f"{WEBHOOK}/resend", resend_chosen, name="deliveries-resend"),
    path(f"{WEBHOOK}/deliveries/<str:event_id>", show_delivery, name="delivery"),
    path(f"{WEBHOOK}/deliveries/<str:event_id>/resend", resend, name="delivery-resend"),
]
