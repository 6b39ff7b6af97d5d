from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from applications.webhooks.api.examples import DELIVERY_RESPONSE
from applications.webhooks.api.serializers import DeliverySerializer
from applications.webhooks.api.webhooks import DISABLED, READERS, WRITERS
from applications.webhooks.models import DeliveryState
from applications.webhooks.selectors.deliveries import (
    DEFAULT_TAKE,
    LARGEST_TAKE,
    delivery_page,
    delivery_place,
    delivery_record,
    find_delivery,
)
from applications.webhooks.selectors.webhooks import webhook_for, webhook_to_write
from applications.webhooks.services.deliveries import resend_delivery
from fulfillment.core.api.paging import AFTER, link_header, next_page, take_parameter
from fulfillment.core.api.parameters import whole_parameter
from fulfillment.core.api.viewsets import ApiViewSet

PARAMETERS = [
    OpenApiParameter("state", str, enum=DeliveryState.values),
    AFTER,
    take_parameter(default=DEFAULT_TAKE, largest=LARGEST_TAKE),
    link_header(),
]


class DeliveryViewSet(ApiViewSet):
    tag = "Events and webhooks"
    access = {"list": READERS, "resend": WRITERS}
    errors = {"resend": {409: DISABLED}}

    @extend_schema(
        operation_id="webhook_delivery_list",
        summary="List deliveries with their attempts",
        description='Newest first, of the last 30 days. `Link: rel="next"` leads to the older ones.',
        parameters=PARAMETERS,
        responses={200: DeliverySerializer(many=True)},
        examples=[DELIVERY_RESPONSE],
    )
    def list(self, request: Request, application_id: str, webhook_id: str) -> Response:
        webhook = webhook_for(request.auth, application_id, webhook_id)
        query = request.query_params
        take = whole_parameter(query, "take", default=DEFAULT_TAKE, most=LARGEST_TAKE)
        before = delivery_place(webhook, query["after"]) if "after" in query else None
        found = delivery_page(webhook, state=query.get("state"), before=before, take=take + 1)
        headers = {}
        if len(found) > take:
            path = f"/application/{webhook.application_id}/webhook/{webhook.pk}/delivery"
            headers = next_page(path, query.items(), str(found[take - 1].event.event_id))
        return Response([delivery_record(delivery) for delivery in found[:take]], headers=headers)

    @extend_schema(
        operation_id="webhook_delivery_resend",
        summary="Send a delivery again",
        description="Sent immediately, regardless of its state. If it fails, a new schedule of retries begins.",
        request=None,
        responses={202: DeliverySerializer},
        examples=[DELIVERY_RESPONSE],
    )
    def resend(self, request: Request, application_id: str, webhook_id: str, delivery_id: str) -> Response:
        webhook = webhook_to_write(request.auth, application_id, webhook_id)
        delivery = resend_delivery(delivery=find_delivery(webhook, delivery_id))
        return Response(delivery_record(delivery), status=202)
