"""The feed of an application's events, which can wait for the next one."""

import time
from collections.abc import Callable
from contextlib import suppress

from drf_spectacular.utils import OpenApiParameter, OpenApiTypes, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from applications.concurrency_limits import EVENT_WAITS
from applications.registration.services.milestones import EVENTS, record_milestone
from applications.webhooks.api.serializers import EVENT_RESPONSE, PATTERNS_TEXT, EventSerializer
from applications.webhooks.event_types import PATTERNS, EventType
from applications.webhooks.selectors.webhooks import (
    DEFAULT_TAKE,
    MAX_TAKE,
    Cursor,
    EventFilters,
    EventPage,
    checked_patterns,
    event_log_for,
    event_page,
    event_record,
    parse_cursor,
)
from fulfillment.core.api.access import Access
from fulfillment.core.api.parameters import (
    link_header,
    next_page,
    parse_timestamp,
    parse_whole_number,
    take_parameter,
)
from fulfillment.core.api.responses import concurrency_errors
from fulfillment.core.api.viewsets import ApiViewSet
from fulfillment.core.concurrency_limits import slot_if
from fulfillment.core.errors import ServiceBusy, TooManyAtOnce
from fulfillment.core.http.stopping import stopping

MAX_WAIT = 25
# An event is on its way for at most this long; each look costs one short query.
LOOK_SECONDS = 0.2

PARAMETERS = [
    OpenApiParameter(
        "after",
        str,
        description=(
            "The position after the last page, from its `Link` header; or the EventID of the last event "
            "you have."
        ),
    ),
    OpenApiParameter("storeID", str, description="Only events of this store."),
    OpenApiParameter("orderID", str, description="Only events of this order, by its OrderID."),
    OpenApiParameter("createdAfter", OpenApiTypes.DATETIME, description="Only events at or after this time."),
    OpenApiParameter(
        "type",
        {"type": "array", "items": {"type": "string", "enum": [*PATTERNS, *EventType.values]}},
        explode=True,
        description=f"Event names or patterns: {PATTERNS_TEXT}.",
    ),
    OpenApiParameter(
        "wait",
        {"type": "integer", "minimum": 0, "maximum": MAX_WAIT, "default": 0},
        description=(
            "Seconds to wait if there is no event yet. The response comes as soon as an event occurs. In "
            "each web process, one request of a person waits at a time, for all of their applications. Any "
            "other request returns at once: pause for a second before you try again."
        ),
    ),
    take_parameter(default=DEFAULT_TAKE, largest=MAX_TAKE),
    link_header('The next page, as `<URL>; rel="next"`. Also sent on the last page.'),
]


class EventViewSet(ApiViewSet):
    tag = "Events and webhooks"
    errors = {"list": concurrency_errors("long pages")}
    access = {
        "list": Access(
            rule=(
                "The application itself may call it, and users with a role for it. With the application of the "
                "command line (`fulfillment-cli`), each user reads the events of their own orders."
            ),
        )
    }

    @extend_schema(
        operation_id="application_event_list",
        summary="Read the events of an application",
        description=(
            'Returns the events of the last 30 days, oldest first. `Link: rel="next"` continues after '
            "the last event of the page. Store it and follow it later: no event is skipped or repeated, "
            "regardless of commit order. An empty array means that there are no new events yet."
        ),
        parameters=PARAMETERS,
        responses={200: EventSerializer(many=True)},
        examples=[EVENT_RESPONSE],
    )
    def list(self, request: Request, application_id: str) -> Response:
        application, user_id = event_log_for(request.auth, application_id)
        query = request.query_params
        patterns = checked_patterns(query.getlist("type"))
        take = parse_whole_number(query, "take", default=DEFAULT_TAKE, most=MAX_TAKE)
        after = parse_cursor(application, query["after"]) if "after" in query else Cursor()
        filters = EventFilters(
            query.get("storeID"), query.get("orderID"), parse_timestamp(query, "createdAfter"), user_id
        )
        is_long, caller = take > DEFAULT_TAKE, request.auth.key

        def read() -> EventPage:
            with slot_if(is_long, caller):
                return event_page(application, after=after, patterns=patterns, filters=filters, take=take)

        seconds = parse_whole_number(query, "wait", default=0, least=0, most=MAX_WAIT)
        page = _wait_for_events(read, caller, seconds)
        if page.events:
            record_milestone(application_id=application.pk, name=EVENTS)
        parameters = [(name, value) for name, values in query.lists() for value in values]
        headers = next_page(f"/application/{application.pk}/event", parameters, page.next.text)
        with slot_if(is_long, caller):
            return Response([event_record(event) for event in page.events], headers=headers)


def _wait_for_events(read_page: Callable[[], EventPage], caller: str, seconds: int) -> EventPage:
    """The page, as soon as it has events; after `seconds`, or where no thread may wait, without."""
    page = read_page()
    if page.events or not seconds:
        return page
    ends = time.monotonic() + seconds
    with suppress(TooManyAtOnce, ServiceBusy), EVENT_WAITS.slot(caller, wait=0):
        while not page.events and time.monotonic() < ends and not stopping.wait(LOOK_SECONDS):
            page = read_page()
    return page
