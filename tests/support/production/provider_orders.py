"""Orders of several items at Site Flow, and what a worker does with their jobs."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.utils import timezone

from production.dispatch.services.provider_orders import WAIT_FOR_SIBLINGS
from production.dispatch.services.reports import receive_reports
from production.dispatch.services.sending import claim_due_jobs, work_on_job
from production.jobs.models import Job, ProviderReport
from production.providers.models import Provider
from production.providers.selectors import adapter_of
from production.providers.services import ProviderValues, save_provider
from stores.orders.models import Order
from tests.factories.orders import card_data, order_body
from tests.factories.production import accept
from tests.support.orders.shop import Shop
from tests.support.production.siteflow import SECRET, SiteFlow

ORDER = "/api/order"


def siteflow(flow: SiteFlow, code: str = "flow", **changes: object) -> Provider:
    settings = flow.settings(secret=SECRET, **changes)
    values = ProviderValues(code=code, name=code.title(), adapter="siteflow", settings=settings)
    return save_provider(values=values)


def placed(shop: Shop, items: int = 3, product: str = "card-two-sided") -> Order:
    listed = [{"ProductID": product, "Quantity": 100, "TemplateData": card_data()}] * items
    response = shop.place(body=order_body(Items=listed))
    assert response.status_code == 201, response.content
    return accept(response.json()["OrderID"])


def numbers(order: Order, *items: int) -> list[str]:
    return [f"{order.number}-{item}" for item in items or (1, 2, 3)]


def at(flow: SiteFlow) -> dict[str, list[str]]:
    """The items of each order that Site Flow has and has not cancelled."""
    orders = flow.orders.items()
    return {
        number: [item["sourceItemId"] for item in data["items"]]
        for number, data in orders
        if number not in flow.cancelled
    }


def states(order: Order) -> list[str]:
    return list(order.jobs.order_by("item__position").values_list("state", flat=True))


def work() -> int:
    """What is due, one after the other; returns how many exchanges there were."""
    count = 0
    while keys := claim_due_jobs(limit=1):
        count += work_on_job(job_pk=keys[0])
    return count


def make_due() -> None:
    Job.objects.filter(next_try__isnull=False).update(next_try=timezone.now())


def wait_is_over() -> None:
    Job.objects.update(created=timezone.now() - WAIT_FOR_SIBLINGS)
    make_due()


def report(press: Provider, number: str, status: str, **more: object) -> list[ProviderReport]:
    body = {"sourceOrderId": number, "status": status, "timestamp": timezone.now().isoformat(), **more}
    reports = adapter_of(press).parse_report(json.dumps(body).encode(), {})
    return receive_reports(provider=press, reports=reports)


@contextmanager
def killed_after(adapter: type, method: str) -> Iterator[None]:
    """A worker that ends when the provider has what was sent, before it records that."""
    send = getattr(adapter, method)

    def killed(*given: object) -> None:
        send(*given)
        raise SystemExit

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adapter, method, killed)
        with pytest.raises(SystemExit):
            yield


def cut_once(flow: SiteFlow, when: str = "after", act: int | str = "cut") -> None:
    done: list[str] = []

    def fault(method: str, path: str, moment: str) -> int | str | None:
        if (path, moment) != (ORDER, when) or done:
            return None
        done.append(path)
        return act

    flow.fault = fault
