"""Every operation of the API, and a world with one of everything that an operation names."""

from collections.abc import Iterator

from django.utils import timezone

from accounts.callers import Caller
from accounts.models import Role
from accounts.services.associations import request_association
from applications.webhooks.services.deliveries import send_test_event
from applications.webhooks.services.webhooks import create_webhook
from fulfillment.core.api.access import Access
from fulfillment.urls import API
from tests.factories.budgets import enable_budgets, make_budget
from tests.factories.orders import RECIPIENT, make_product
from tests.support.scenario import World, build_known_world

QUOTE = {"Items": [{"ProductID": "card", "Quantity": 100}], "ShipTo": {"CountryCode": "US"}}
BATCH = {"ProductID": "card", "Mode": "Items", "Recipient": RECIPIENT}
ORDER = {"Items": QUOTE["Items"], "Recipient": RECIPIENT}


def operations() -> Iterator[tuple[str, str, Access | None]]:
    """(route name, method, access) of every operation."""
    for pattern in API:
        view = pattern.callback
        for method, action in view.actions.items():
            if method != "head":
                yield pattern.name, method.upper(), view.cls.access.get(action)


def build_scene() -> tuple[World, dict[str, str]]:
    """A world with one of everything an operation names, and the ids."""
    world = build_known_world()
    requested, _ = request_association(
        caller=Caller.on_pages(world.user), application=world.application, store=world.unassociated
    )
    make_product(world.associated)
    webhook, _ = create_webhook(application=world.application, values={"URL": "https://192.0.43.8/events"})
    delivery = send_test_event(webhook=webhook)
    placed = {
        name: world.as_application().call("POST", f"/store/associated/{name}", body).json()
        for name, body in (("quote", QUOTE), ("order", ORDER), ("batch", BATCH))
    }
    Role.objects.create(user=world.user, store=world.associated, grant="Budget.All.Write")
    budget = make_budget(enable_budgets(world.associated), Limit=1_000_000)
    return world, {
        "budget": str(budget.pk),
        "quote": placed["quote"]["QuoteID"],
        "order": placed["order"]["OrderID"],
        "batch": placed["batch"]["BatchID"],
        "user": str(world.user.pk),
        "application": str(world.application.pk),
        "key": str(world.application.keys.get().pk),
        "association": str(requested.pk),
        "webhook": str(webhook.pk),
        "event": str(delivery.event.event_id),
        "today": timezone.now().isoformat(),
    }
