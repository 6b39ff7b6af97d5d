"""Webhooks of an application, their secrets, and the log of what was sent to them, with resend and recovery."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.idempotency import idempotent
from applications.registration.api.applications import WRITE
from applications.registration.models import Application
from applications.registration.selectors.applications import application_for
from applications.webhooks.api.serializers import (
    DELIVERY_RESPONSE,
    RECOVER_REQUEST,
    RECOVERED,
    SECRET_RESPONSE,
    WEBHOOK_CHANGE,
    WEBHOOK_REQUEST,
    WEBHOOK_RESPONSE,
    DeliverySerializer,
    RecoveredSerializer,
    RecoverRequestSerializer,
    WebhookChangeSerializer,
    WebhookRequestSerializer,
    WebhookSerializer,
    WebhookWithSecretSerializer,
)
from applications.webhooks.models import DeliveryState, Webhook
from applications.webhooks.selectors.deliveries import (
    DEFAULT_TAKE,
    MAX_TAKE,
    delivery_page,
    delivery_place,
    delivery_record,
    find_delivery,
)
from applications.webhooks.selectors.webhooks import (
    application_to_hook,
    application_webhooks,
    find_webhook,
    webhook_etag,
    webhook_for,
    webhook_record,
    webhook_to_write,
)
from applications.webhooks.services.deliveries import recover_deliveries, resend_delivery, send_test_event
from applications.webhooks.services.webhooks import (
    change_webhook,
    create_webhook,
    delete_webhook,
    enable_webhook,
    rotate_secret,
)
from fulfillment.core.api.access import Access
from fulfillment.core.api.parameters import (
    AFTER,
    link_header,
    next_page,
    parse_state,
    parse_whole_number,
    take_parameter,
)
from fulfillment.core.api.responses import concurrency_errors, is_unchanged, matching_tags, not_modified
from fulfillment.core.api.serializers import validate_data
from fulfillment.core.api.viewsets import ApiViewSet
from fulfillment.core.concurrency_limits import FILES, slot_if
from fulfillment.core.text import meta

READERS = Access(rule="The application itself may call it, and users with a role for it.")
WRITERS = Access(
    rule="The application itself may call it, and users who hold one of the permissions on it.",
    permissions=WRITE,
)
IF_MATCH = OpenApiParameter(
    "If-Match",
    str,
    OpenApiParameter.HEADER,
    description="The last ETag you received. The response is 412 if the webhook has changed since.",
)
DISABLED = "The webhook is disabled (`webhook_disabled`)."
PARAMETERS = [
    OpenApiParameter("state", str, enum=DeliveryState.values),
    AFTER,
    take_parameter(default=DEFAULT_TAKE, largest=MAX_TAKE),
    link_header(),
]
# Deliveries may have 20 attempts of 2 KB each.
SHORT_PAGE = 10


class WebhookViewSet(ApiViewSet):
    tag = "Events and webhooks"
    access = {
        "list": READERS,
        "retrieve": READERS,
        "create": WRITERS,
        "partial_update": WRITERS,
        "destroy": WRITERS,
        "rotate_secret": WRITERS,
        "test": WRITERS,
        "enable": WRITERS,
        "recover": WRITERS,
    }
    errors = {
        "partial_update": {412: "`If-Match` does not match the current version."},
        "rotate_secret": {409: "The webhook has ten valid secrets, which is the limit (`too_many_secrets`)."},
        "test": {409: DISABLED},
        "recover": {409: DISABLED, **concurrency_errors("exports or recoveries")},
    }

    @extend_schema(
        operation_id="webhook_list",
        summary="List webhooks",
        responses={200: WebhookSerializer(many=True)},
        examples=[WEBHOOK_RESPONSE],
    )
    def list(self, request: Request, application_id: str) -> Response:
        application = application_for(request.auth, application_id)
        return Response([webhook_record(webhook) for webhook in application_webhooks(application)])

    def _to_hook(self, request: Request, application_id: str, webhook_id: str = "") -> Application:
        return application_to_hook(request.auth, application_id)

    @extend_schema(
        operation_id="webhook_create",
        summary="Create a webhook",
        description=(
            "The service sends events to this URL from now on, signed according to Standard Webhooks. The "
            "secret appears only in this response."
        ),
        request=WebhookRequestSerializer,
        responses={201: WebhookWithSecretSerializer},
        examples=[WEBHOOK_REQUEST, SECRET_RESPONSE],
    )
    @idempotent(access=_to_hook)
    def create(self, request: Request, application_id: str) -> Response:
        application = application_to_hook(request.auth, application_id)
        values = validate_data(WebhookRequestSerializer, request.data)
        webhook, secret = create_webhook(application=application, values=values)
        location = f"/api/v1/application/{application.pk}/webhook/{webhook.pk}"
        return _webhook_response(webhook, status=201, secret=secret, headers={"Location": location})

    @extend_schema(
        operation_id="webhook_read",
        summary="Read a webhook",
        responses={200: WebhookSerializer},
        examples=[WEBHOOK_RESPONSE],
    )
    def retrieve(self, request: Request, application_id: str, webhook_id: str) -> Any:
        webhook = webhook_for(request.auth, application_id, webhook_id)
        if is_unchanged(request, webhook_etag(webhook)):
            return not_modified(webhook_etag(webhook))
        return _webhook_response(webhook)

    @extend_schema(
        operation_id="webhook_change",
        summary="Change a webhook",
        description=(
            "Only the properties you send change; a list replaces the existing one. Retries of pending "
            "deliveries go to the new URL."
        ),
        parameters=[IF_MATCH],
        request=WebhookChangeSerializer,
        responses={200: WebhookSerializer},
        examples=[WEBHOOK_CHANGE, WEBHOOK_RESPONSE],
    )
    def partial_update(self, request: Request, application_id: str, webhook_id: str) -> Response:
        webhook = webhook_to_write(request.auth, application_id, webhook_id)
        values = validate_data(WebhookChangeSerializer, request.data)
        return _webhook_response(
            change_webhook(webhook=webhook, values=values, if_match=matching_tags(request))
        )

    @extend_schema(
        operation_id="webhook_delete",
        summary="Delete a webhook",
        description="Stops all sending and deletes the webhook's deliveries.",
        request=None,
        responses={204: None},
    )
    def destroy(self, request: Request, application_id: str, webhook_id: str) -> Response:
        delete_webhook(webhook=webhook_to_write(request.auth, application_id, webhook_id))
        return Response(status=204)

    @extend_schema(
        operation_id="webhook_rotate_secret",
        summary="Replace the secret",
        description=(
            "The new secret appears only in this response. For 24 hours, every request is also signed with "
            "the old secret."
        ),
        request=None,
        responses={200: WebhookWithSecretSerializer},
        examples=[SECRET_RESPONSE],
    )
    @idempotent(access=_to_hook)
    def rotate_secret(self, request: Request, application_id: str, webhook_id: str) -> Response:
        webhook = webhook_to_write(request.auth, application_id, webhook_id)
        secret = rotate_secret(webhook=webhook)
        return _webhook_response(find_webhook(webhook.application, webhook.pk), secret=secret)

    @extend_schema(
        operation_id="webhook_test",
        summary="Send a test event",
        description="Sends a `webhook.test` event to this webhook alone, regardless of its event types.",
        request=None,
        responses={202: DeliverySerializer},
        examples=[DELIVERY_RESPONSE],
    )
    @idempotent(access=_to_hook)
    def test(self, request: Request, application_id: str, webhook_id: str) -> Response:
        webhook = webhook_to_write(request.auth, application_id, webhook_id)
        return Response(delivery_record(send_test_event(webhook=webhook)), status=202)

    @extend_schema(
        operation_id="webhook_enable",
        summary="Enable a webhook",
        description="To send the events missed while it was disabled, use `recover`.",
        request=None,
        responses={200: WebhookSerializer},
        examples=[WEBHOOK_RESPONSE],
    )
    def enable(self, request: Request, application_id: str, webhook_id: str) -> Response:
        return _webhook_response(
            enable_webhook(webhook=webhook_to_write(request.auth, application_id, webhook_id))
        )

    @extend_schema(
        operation_id="webhook_recover",
        summary="Recover missed deliveries",
        description=(
            "Sends every undelivered event since `Since` that the webhook subscribes to. This includes "
            "failed deliveries, and events from before the webhook was created or while it was disabled. A "
            "repeated request sends nothing twice."
        ),
        request=RecoverRequestSerializer,
        responses={202: RecoveredSerializer},
        examples=[RECOVER_REQUEST, RECOVERED],
    )
    def recover(self, request: Request, application_id: str, webhook_id: str) -> Response:
        webhook = webhook_to_write(request.auth, application_id, webhook_id)
        values = validate_data(RecoverRequestSerializer, request.data)
        # It writes a row for each event of up to 30 days.
        with FILES.slot(request.auth.key):
            count = recover_deliveries(webhook=webhook, since=values["Since"])
        return Response({"Deliveries": count, "_meta": meta()}, status=202)


def _webhook_response(
    webhook: Webhook, *, status: int = 200, secret: str | None = None, headers: dict[str, str] | None = None
) -> Response:
    tagged = {**(headers or {}), "ETag": webhook_etag(webhook)}
    return Response(webhook_record(webhook, secret=secret), status=status, headers=tagged)


class DeliveryViewSet(ApiViewSet):
    tag = "Events and webhooks"
    access = {"list": READERS, "resend": WRITERS}
    errors = {"list": concurrency_errors("long pages"), "resend": {409: DISABLED}}

    @extend_schema(
        operation_id="webhook_delivery_list",
        summary="List deliveries with their attempts",
        description=(
            'Returns the deliveries of the last 30 days, newest first. `Link: rel="next"` returns older ones.'
        ),
        parameters=PARAMETERS,
        responses={200: DeliverySerializer(many=True)},
        examples=[DELIVERY_RESPONSE],
    )
    def list(self, request: Request, application_id: str, webhook_id: str) -> Response:
        webhook = webhook_for(request.auth, application_id, webhook_id)
        query = request.query_params
        take = parse_whole_number(query, "take", default=DEFAULT_TAKE, most=MAX_TAKE)
        before = delivery_place(webhook, query["after"]) if "after" in query else None
        with slot_if(take > SHORT_PAGE, request.auth.key):
            state = parse_state(query, DeliveryState)
            deliveries = delivery_page(webhook, state=state, before=before, take=take + 1)
            records = [delivery_record(delivery) for delivery in deliveries[:take]]
        headers = {}
        if len(deliveries) > take:
            path = f"/application/{webhook.application_id}/webhook/{webhook.pk}/delivery"
            headers = next_page(path, query.items(), str(deliveries[take - 1].event.event_id))
        return Response(records, headers=headers)

    @extend_schema(
        operation_id="webhook_delivery_resend",
        summary="Send a delivery again",
        description=(
            "Sends the delivery immediately, regardless of its state. If it fails, a new retry schedule "
            "begins."
        ),
        request=None,
        responses={202: DeliverySerializer},
        examples=[DELIVERY_RESPONSE],
    )
    def resend(self, request: Request, application_id: str, webhook_id: str, delivery_id: str) -> Response:
        webhook = webhook_to_write(request.auth, application_id, webhook_id)
        delivery = resend_delivery(delivery=find_delivery(webhook, delivery_id))
        return Response(delivery_record(delivery), status=202)
