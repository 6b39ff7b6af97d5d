"""A month of calls of the demo's applications: counted by day, and those of the last days in their request log."""

import random
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from applications.registration.models import Application, DailyUsage, LoggedRequest, Milestone
from applications.registration.services.milestones import CALLED, READ
from fulfillment.core.api.errors import TITLES
from stores.catalog.models import Store, StoreUsage

DAYS = 30
WEEKEND = 5
# The log has one in SHOWN successful calls, and every other call.
SHOWN = 5
STORE = "/api/v1/store/{storeID}"
# How often, method, path, status and the usual milliseconds.
GOOD = (
    (50, "GET", f"{STORE}/product", 200, 4),
    (20, "GET", f"{STORE}/product/{{productID}}", 200, 3),
    (30, "POST", f"{STORE}/product/{{productID}}/proof", 200, 38),
    (15, "POST", f"{STORE}/quote", 201, 9),
    (8, "POST", f"{STORE}/order", 201, 46),
    (12, "GET", f"{STORE}/order/{{orderID}}", 200, 4),
)
REFUSED = (
    (
        3,
        "GET",
        f"{STORE}/product/{{productID}}",
        404,
        "product_not_found",
        "",
        "There is no product 'flyer-a7'.",
    ),
    (
        4,
        "POST",
        f"{STORE}/product/{{productID}}/proof",
        400,
        "values_invalid",
        "/Title",
        "Title does not fit its box, even at the smallest size.",
    ),
    (
        3,
        "POST",
        f"{STORE}/quote",
        400,
        "quantity_not_in_steps",
        "/Items/0/Quantity",
        "Quantity: 250 cannot be ordered; allowed: from 100 to 10000 in steps of 100.",
    ),
    (
        1,
        "GET",
        f"{STORE}/order/{{orderID}}",
        404,
        "order_not_found",
        "",
        "There is no order with this OrderID for this caller.",
    ),
)
BUSY = "The service has as much of this under way as it takes."
FAILED = (1, "POST", f"{STORE}/order", 503, "service_busy", "", BUSY)


def load_calls(application: Application, *, usual: int, now: datetime) -> None:
    days = [_usage(application, now.date() - timedelta(days=ago), usual) for ago in range(DAYS)]
    DailyUsage.objects.bulk_create(days, ignore_conflicts=True)
    steps = [Milestone(application=application, name=name) for name in (CALLED, READ)]
    Milestone.objects.bulk_create(steps, ignore_conflicts=True)
    chance = random.Random(usual)  # noqa: S311 - the same demo each time
    logged = [
        _logged_request(day, kind, chance, now)
        for day in days[: settings.REQUEST_LOG_DAYS]
        for kind in _kinds(day, chance)
    ]
    LoggedRequest.objects.bulk_create(sorted(logged, key=lambda request: request.time), batch_size=1000)


def load_store_calls(usual_of: Sequence[tuple[str, int]], *, now: datetime) -> None:
    stores = Store.objects.in_bulk([store for store, _ in usual_of], field_name="external_id")
    rows = [
        StoreUsage(store=stores[store], day=day, calls=_calls_on(day, usual))
        for store, usual in usual_of
        if store in stores
        for day in (now.date() - timedelta(days=ago) for ago in range(DAYS))
    ]
    StoreUsage.objects.bulk_create(rows, ignore_conflicts=True)


def _calls_on(day: date, usual: int) -> int:
    """Fewer at the weekend; never two days alike."""
    return int(usual * (0.3 if day.weekday() >= WEEKEND else 0.8 + (day.toordinal() * 7 % 11) / 20))


def _usage(application: Application, day: date, usual: int) -> DailyUsage:
    calls = _calls_on(day, usual)
    return DailyUsage(
        application=application,
        day=day,
        calls=calls,
        client_errors=calls * (2 + day.day % 4) // 100,
        server_errors=int(day.day % 13 == 0),
    )


def _kinds(day: DailyUsage, chance: random.Random) -> list[tuple[Any, ...]]:
    good = (day.calls - day.client_errors - day.server_errors) // SHOWN
    return [
        *chance.choices(GOOD, [kind[0] for kind in GOOD], k=good),
        *chance.choices(REFUSED, [kind[0] for kind in REFUSED], k=day.client_errors),
        *[FAILED] * day.server_errors,
    ]


def _logged_request(
    day: DailyUsage, kind: tuple[Any, ...], chance: random.Random, now: datetime
) -> LoggedRequest:
    _, method, path, status, *details = kind
    began = datetime.combine(day.day, time(), tzinfo=timezone.get_default_timezone())
    latest = min(now, began + timedelta(days=1)) - timedelta(minutes=1)
    seconds = max(1.0, (latest - began).total_seconds())
    code, pointer, detail = details if status >= 400 else ("", "", "")
    milliseconds = 3 if status >= 400 else details[0]
    return LoggedRequest(
        application_id=day.application_id,
        time=began + timedelta(seconds=chance.uniform(0, seconds)),
        method=method,
        path=path,
        status=status,
        code=code,
        pointer=pointer,
        microseconds=int(milliseconds * 1000 * chance.lognormvariate(0, 0.35)),
        request_id=UUID(int=chance.getrandbits(128)),
        headers={
            "request": {
                "User-Agent": "flyer-studio/2.4 store-fulfillment-python/0.1.0",
                "Accept": "application/json",
            },
            "response": {"Content-Type": "application/problem+json" if code else "application/json"},
        },
        problem=_problem(status, code, pointer, detail) if code else None,
    )


def _problem(status: int, code: str, pointer: str, detail: str) -> dict[str, Any]:
    errors = [{"Pointer": pointer, "Code": code, "Message": detail}] if pointer else []
    return {
        "title": TITLES[status],
        "Code": code,
        "detail": detail,
        "ErrorCount": len(errors),
        "Errors": errors,
    }
