"""A month in the life of the demo: orders in every status, calls, requests that wait, and a webhook that fails.

Everything is created by the usual services, with the time at which it happened in the story.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from operator import itemgetter

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.callers import Caller
from accounts.demo import OPERATOR, USER
from accounts.models import Tenant, User
from accounts.services.associations import approve_association, request_association
from applications.registration.models import Application
from applications.registration.services.applications import create_application
from applications.webhooks.models import Webhook
from applications.webhooks.services.delivery_attempts import (
    EndpointResponse,
    claim_due_deliveries,
    record_attempt,
)
from applications.webhooks.services.webhooks import create_webhook
from fulfillment.core.plugins import DemoRun
from stores.batches.files.records import FileRow
from stores.batches.models import BatchMode
from stores.batches.selectors.batches import shown_batches
from stores.batches.services.batches import create_batch
from stores.batches.services.rows import Match, RowSource, replace_rows
from stores.catalog.models import Store
from stores.demo.calls import load_calls, load_store_calls
from stores.demo.company import APPROVER, create_person, load_company
from stores.demo.orders import ORDERS, DemoOrder, order_request, transitions_of
from stores.orders.models import ActorKind, Order, OrderStatus
from stores.orders.selectors.access import WRITE, StoreAccess, authorize_store
from stores.orders.services.approvals import deny_order
from stores.orders.services.cancellation import cancel_order
from stores.orders.services.changes import Actor, actor_of
from stores.orders.services.comments import add_comment
from stores.orders.services.orders import PreparedOrder, create_order, prepare_order
from stores.orders.services.transitions import Parcel, transition_order

PRODUCT = "business-card-standard"
FIRST_NAMES = ("Ada", "Ben", "Carla", "Deniz", "Elena", "Farid", "Grace", "Hugo", "Ines", "Jonas")
LAST_NAMES = ("Albrecht", "Brooks", "Castillo", "Dvorak", "Eriksen", "Fontaine")
TITLES = ("Account manager", "Designer", "Engineer", "Office manager", "Sales")
RECIPIENT = {
    "Name": "Nora Albrecht",
    "Company": "Northfield Partners",
    "Address1": "410 Market Street",
    "City": "Denver",
    "State": "CO",
    "PostalCode": "80202",
    "CountryCode": "US",
}
# By the number of the row: no name, no address, an address that is none, too long for the card, a sign of no font.
MISTAKES = {
    9: {"Name": ""},
    17: {"Email": ""},
    28: {"Email": "carla.example"},
    41: {"Name": "Maximiliane-Alexandra Konstantinopoulou-Papadopoulos of Thessaloniki " * 2},
    54: {"Name": "Hugo \U0001fac8 Brooks"},
}
STUDIO = "Flyer Studio"
WAITING = (
    (
        "Realty Hub",
        "summit-print",
        "Our agents order their yard signs and postcards with you by phone today.",
    ),
    (
        "Acme Mailer",
        "harbor-press",
        "We send menus for 40 restaurants in Vancouver and would print with you.",
    ),
)
WEBHOOK_URL = "https://hooks.flyer-studio.example/orders"
# Too short for the mail to the owners, which would delay the start of the demo.
FAILS_SINCE, DENIED_AFTER = timedelta(hours=20), timedelta(hours=3)
CALLS = (("demo-application", 340), (STUDIO, 910))
# The calls among them that name a store.
CALLS_OF_STORES = (("summit-print", 780), ("harbor-press", 290), ("demo", 60))


def load_batch(access: StoreAccess) -> None:
    """The worker checks the rows after the start."""
    values = {"mode": BatchMode.ITEMS, "name": "Cards for the Denver office", "quantity": 100}
    batch = create_batch(access=access, product_id=PRODUCT, values={**values, "recipient": RECIPIENT})
    rows = [FileRow(number, {**_person(number - 2), **MISTAKES.get(number, {})}) for number in range(2, 62)]
    columns = list(rows[0].values)
    matches = [Match(column, column, 1.0) for column in columns]
    replace_rows(batch=shown_batches().get(pk=batch.pk), source=RowSource(columns, rows, matches))


def _person(number: int) -> dict[str, str]:
    first, last = FIRST_NAMES[number % len(FIRST_NAMES)], LAST_NAMES[number // len(FIRST_NAMES)]
    return {
        "Name": f"{first} {last}",
        "Title": TITLES[number % len(TITLES)],
        "Email": f"{first}.{last}@northfield.example".lower(),
    }


@dataclass(slots=True)
class _Cast:
    """The users, stores and applications of the story."""

    operator: User
    staff: User
    applications: dict[str, Application]
    callers: dict[str, Caller]
    now: datetime


def load_activity(run: DemoRun) -> None:
    """Loads the activity once, into a service without orders."""
    if Order.objects.exists():
        return
    owner = _owner_of_applications()
    studio = _application(
        owner, STUDIO, "Flyers and postcards for shops and venues, designed by their owners."
    )
    applications = {"demo-application": run.application, STUDIO: studio}
    staff, now = run.people[USER.username], timezone.now()
    people = load_company(Store.objects.get(external_id="summit-print"), salesperson=staff, now=now)
    callers = {
        name: Caller.of_application(application) for name, application in applications.items()
    } | people
    actors = _Cast(run.people[OPERATOR.username], staff, applications, callers, now)
    _associate(actors, owner)
    prepared = [(order, _prepare(actors, order)) for order in ORDERS]
    with transaction.atomic():
        webhook = _act(actors, prepared)
        _count_calls(actors)
        load_batch(authorize_store(Caller.on_pages(staff), "summit-print", WRITE))
    _fail(webhook, actors.now)


def _owner_of_applications() -> User:
    tenant = Tenant.objects.get(domain=settings.DEFAULT_TENANT_DOMAIN)
    owner = User.objects.filter(tenant=tenant, username="maya").first()
    return owner or create_person(tenant, "maya", "Maya", "Chen", domain="demo.example")


def _application(owner: User, name: str, description: str) -> Application:
    values = {"Name": name, "Description": description}
    return create_application(caller=Caller.on_pages(owner), values=values)


def _associate(actors: _Cast, owner: User) -> None:
    operator = Caller.on_pages(actors.operator)
    stores = {store.external_id: store for store in Store.objects.all()}
    for store_id in ("summit-print", "harbor-press"):
        request, _ = request_association(
            caller=Caller.on_pages(owner), application=actors.applications[STUDIO], store=stores[store_id]
        )
        approve_association(caller=operator, request_id=request.pk)
    for name, store_id, message in WAITING:
        application = _application(owner, name, "")
        request_association(
            caller=Caller.on_pages(owner), application=application, store=stores[store_id], message=message
        )


def _prepare(actors: _Cast, order: DemoOrder) -> PreparedOrder:
    opened = authorize_store(actors.callers[order.caller], order.store_id, WRITE)
    return prepare_order(access=opened, request=order_request(order, actors.now))


def _act(actors: _Cast, prepared: list[tuple[DemoOrder, PreparedOrder]]) -> Webhook:
    """Runs all actions in the order of their times, because orders of a store are numbered one after another."""
    orders: dict[int, Order] = {}
    webhooks: list[Webhook] = []
    actions: list[tuple[datetime, Callable[[], object]]] = []

    def place(order: DemoOrder, ready: PreparedOrder) -> None:
        orders[order.index] = create_order(prepared=ready, actor=actor_of(ready.access)).order

    def add_webhook() -> None:
        webhook, _ = create_webhook(application=actors.applications[STUDIO], values={"URL": WEBHOOK_URL})
        webhooks.append(webhook)

    for order, ready in prepared:
        placed_at = ready.request.placed or actors.now
        actions.append((placed_at, partial(place, order, ready)))
        for status, moved_at in transitions_of(order, placed_at, actors.now):
            actions.append((moved_at, partial(_move, actors, order, orders, status, moved_at)))
        if order.denial:
            actions.append((placed_at + DENIED_AFTER, partial(_deny, actors, order, orders)))
    actions.append((actors.now - FAILS_SINCE, add_webhook))
    for _, act in sorted(actions, key=itemgetter(0)):
        act()
    return webhooks[0]


def _move(actors: _Cast, order: DemoOrder, orders: dict[int, Order], status: int, moved_at: datetime) -> None:
    placed, is_operator = orders[order.index], order.store_id == "harbor-press"
    actor = Actor(
        ActorKind.OPERATOR if is_operator else ActorKind.STORE,
        (actors.operator if is_operator else actors.staff).pk,
    )
    parcels = []
    if status in {OrderStatus.SHIPPED, OrderStatus.PARTIALLY_SHIPPED}:
        parcels = [Parcel("UPS", f"1Z999AA1{placed.number}{status}", shipped=moved_at)]
    is_last = status == order.status
    transition_order(
        order=placed,
        status=status,
        actor=actor,
        note=order.note if is_last else "",
        parcels=parcels,
        happened_at=moved_at,
    )
    if is_last and order.comment:
        add_comment(
            order=placed, author_id=actor.user_id, text=order.comment, created=moved_at + timedelta(minutes=9)
        )
    if is_last and order.cancellation:
        requested_at = min(moved_at + timedelta(hours=3), actors.now)
        cancel_order(
            order=placed,
            actor=Actor(ActorKind.APPLICATION),
            reason=order.cancellation,
            happened_at=requested_at,
        )


def _deny(actors: _Cast, order: DemoOrder, orders: dict[int, Order]) -> None:
    actor = Actor(ActorKind.STORE, actors.callers[APPROVER[0]].user_id)
    deny_order(order=orders[order.index], actor=actor, reason=order.denial)


def _count_calls(actors: _Cast) -> None:
    for name, usual in CALLS:
        load_calls(actors.applications[name], usual=usual, now=actors.now)
    load_store_calls(CALLS_OF_STORES, now=actors.now)


def _fail(webhook: Webhook, now: datetime) -> None:
    """Records the first attempts as a worker would; the worker makes the next one itself."""
    deliveries = claim_due_deliveries(webhook_id=webhook.pk, limit=100, now=timezone.now())
    first = now - FAILS_SINCE + timedelta(minutes=20)
    for number, delivery in enumerate(deliveries):
        response = EndpointResponse(
            milliseconds=31, error="The name hooks.flyer-studio.example does not resolve."
        )
        started = min(first + timedelta(hours=3 * number), now)
        record_attempt(claimed=delivery, response=response, started=started, now=now)
