from urllib.parse import urlencode

from django.conf import settings
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from applications.webhooks.api.examples import DELIVERY_RESPONSE
from applications.webhooks.api.serializers import DeliverySerializer
from applications.webhooks.api.webhooks import DISABLED, READERS, WRITERS
from applications.webhooks.models import Delivery, DeliveryState, Webhook
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
from fulfillment.core.api.parameters import whole_parameter
from fulfillment.core.api.viewsets import ApiViewSet

PARAMETERS = [
    OpenApiParameter("state", str, enum=DeliveryState.values),
    OpenApiParameter("after", str, description="Where the last page ended; taken from its `Link` header."),
    OpenApiParameter(
        "take", {"type": "integer", "minimum": 1, "maximum": LARGEST_TAKE, "default": DEFAULT_TAKE}
    ),
    OpenApiParameter(
        "Link",
        str,
        OpenApiParameter.HEADER,
        response=[200],
        description='The next page, as `<address>; rel="next"`; not on the last one.',
    ),
]


class DeliveryViewSet(ApiViewSet):
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
        filters = {name: value for name, value in query.items() if name != "after"}
        headers = _link(webhook, found[take - 1], filters) if len(found) > take else {}
        return Response([delivery_record(delivery) for delivery in found[:take]], headers=headers)

    @extend_schema(
        operation_id="webhook_delivery_resend",
        summary="Send a delivery again",
        description="At once, whatever became of it, and with a new schedule of tries should it fail.",
        request=None,
        responses={202: DeliverySerializer},
        examples=[DELIVERY_RESPONSE],
    )
    def resend(self, request: Request, application_id: str, webhook_id: str, delivery_id: str) -> Response:
        webhook = webhook_to_write(request.auth, application_id, webhook_id)
        delivery = resend_delivery(delivery=find_delivery(webhook, delivery_id))
        return Response(delivery_record(delivery), status=202)


def _link(webhook: Webhook, last: Delivery, filters: dict[str, str]) -> dict[str, str]:
    address = f"{settings.API_URL}/application/{webhook.application_id}/webhook/{webhook.pk}/delivery"
    return {"Link": f'<{address}?{urlencode({**filters, "after": str(last.event.event_id)})}>; rel="next"'}
