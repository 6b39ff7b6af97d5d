"""The world of the worst-case callers: each is another account, and their neighbour is a well-behaved caller."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tests.benchmarks.neighbours.raw import Headers
from tests.benchmarks.soak_scene import Caller, fresh_world, rows
from tests.support.webhook_receiver import Receiver

# What a good caller reads: a store, with its credentials checked and its request counted.
CHEAP_READ = "/api/v1/store/associated"
PRODUCTS, ORDERS, EVENTS = 40, 20_000, 1_000
CODES, ROUTES = 120, 40
CARD, LETTER, PHOTO = "card-two-sided", "letterhead-8.5x11", "photo-card"


@dataclass
class Scene:
    """`url` is the service's, as long as one runs."""

    world: Any
    receiver: Receiver
    orders: int
    url: str = ""
    _sessions: dict[str, str] = field(default_factory=dict)

    @cached_property
    def outsider(self) -> Headers:
        """A user without any role."""
        return _credentials(self.world.as_user(self.world.outsider))

    @cached_property
    def staff(self) -> Headers:
        """A user with roles in one store."""
        return _credentials(self.world.as_user(self.world.user))

    @cached_property
    def application(self) -> Headers:
        return _credentials(self.world.as_application())

    @cached_property
    def neighbour(self) -> Headers:
        """The good caller: another application."""
        return _credentials(self.world.as_application(self.world.other_application))

    def session(self, name: str) -> str:
        """The cookie of a browser in which the person is signed in."""
        if name not in self._sessions:
            from django.test import Client

            browser = Client()
            browser.force_login(getattr(self.world, name))
            self._sessions[name] = "; ".join(f"{each.key}={each.value}" for each in browser.cookies.values())
        return self._sessions[name]

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """What the application was answered; for what must be there before."""
        return self.called_by(self.world.as_application(), method, path, body, **headers)

    def called_by(self, client: Any, method: str, path: str, body: Any = None, **headers: str) -> Any:
        response = Caller(self.url, client).call(method, path, body, **headers)
        response.raise_for_status()
        return response.json()

    def forget_limits(self) -> None:
        """Every window of requests begins anew."""
        rows("DELETE FROM accounts_ratewindow RETURNING 1")

    def forget_webhooks(self) -> None:
        """None is left of the kind before."""
        from applications.webhooks.models import Webhook
        from applications.webhooks.services.webhooks import delete_webhook

        for webhook in Webhook.objects.filter(deleted__isnull=True):
            delete_webhook(webhook=webhook)


def build_scene(receiver: Receiver, *, orders: int = ORDERS) -> Scene:
    """A world with limits as they are without settings; only the good caller has more requests."""
    from accounts.models import Role, Subscription
    from accounts.permissions import DEFAULT_STORE_GRANTS
    from delivery.datasets.populations import pack
    from stores.management.sample_orders import create_sample_orders
    from tests.factories.delivery import load_dataset
    from tests.factories.orders import make_card, make_design, make_product
    from tests.factories.pictures import make_photo_card
    from tests.factories.webhooks import make_event

    world = fresh_world()
    Subscription.objects.update(requests_per_minute=600)
    neighbour = world.other_application
    Subscription.objects.filter(application=neighbour).update(requests_per_minute=1_000_000_000)
    Role.objects.bulk_create(
        Role(application=neighbour, store=world.associated, grant=grant) for grant in DEFAULT_STORE_GRANTS
    )
    make_card(world.demo, CARD)
    make_card(world.associated, CARD)
    make_design(world.demo, LETTER)
    make_photo_card(world.demo)
    for number in range(PRODUCTS):
        make_product(world.demo, f"plain-{number:03}")
    load_dataset(
        {
            f"{84000 + code}": {f"C{route:03}": pack(600 + route, 40) for route in range(1, ROUTES + 1)}
            for code in range(CODES)
        }
    )
    create_sample_orders(count=orders, stores=[world.associated])
    for number in range(min(EVENTS, orders)):
        make_event(world.application, data={"Sequence": number})
    return Scene(world, receiver, orders)


def _credentials(client: Any) -> Headers:
    return {"Authorization": f"Bearer {client.token}", "Ocp-Apim-Subscription-Key": client.key}
