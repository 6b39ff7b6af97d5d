"""Generated attempts to reach data of one mode with credentials of the other.

Every operation that is declared is tried by every kind of caller of either mode, with at least one ID of the other
mode in its path, query or body where it takes any. A crossing is an ID of the other mode in an answer that was not
in the request, an effect on a record of the other mode, or a request for one that succeeds.
"""

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from string import Formatter
from typing import Any
from uuid import uuid4

from django.db import connection

from accounts.callers import Caller
from accounts.models import Role, Subscription
from accounts.services.associations import request_association
from applications.registration.models import Application
from applications.webhooks.services.deliveries import send_test_event
from applications.webhooks.services.webhooks import create_webhook
from tests.factories.budgets import enable_budgets, make_budget
from tests.factories.orders import make_product, order_body
from tests.factories.pictures import make_photo_card, upload
from tests.support.api.access_rows import ROWS, Row
from tests.support.api.access_scene import BATCH, ORDER, QUOTE
from tests.support.api.modes import add_test_application
from tests.support.scenario import EVERY_SCOPE, EVERYDAY_SCOPES, ApiClient, World

STORES = ("associated", "demo")
MODES = ("live", "test")
# Every record of a mode, so that none changes by the credentials of the other.
STATE = """
SELECT md5(coalesce(string_agg(row::text, '' ORDER BY row::text), '')) FROM (
    SELECT to_jsonb(o)::text AS row FROM stores_order o WHERE is_test = %(mode)s
    UNION ALL SELECT to_jsonb(q)::text FROM stores_quote q WHERE is_test = %(mode)s
    UNION ALL SELECT to_jsonb(b)::text FROM stores_batch b WHERE is_test = %(mode)s
    UNION ALL SELECT to_jsonb(a)::text FROM stores_asset a WHERE is_test = %(mode)s
    UNION ALL SELECT to_jsonb(h)::text FROM stores_orderhistory h
        JOIN stores_order o ON o.id = h.order_id WHERE o.is_test = %(mode)s
    UNION ALL SELECT to_jsonb(a)::text FROM applications_application a WHERE is_test = %(mode)s
    UNION ALL SELECT to_jsonb(r)::text FROM ({owned}) r
) rows
"""
OWNED = " UNION ALL ".join(
    f"SELECT to_jsonb(r) FROM {table} r JOIN applications_application a ON a.id = r.application_id "
    "WHERE a.is_test = %(mode)s"
    for table in (
        "applications_event",
        "applications_webhook",
        "applications_applicationkey",
        "accounts_associationrequest",
        "accounts_role",
    )
)


@dataclass
class Twins:
    """One of everything, in both modes and in both stores; the owner of both applications is one person."""

    world: World
    applications: Mapping[str, Application]
    ids: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)

    def callers(self, mode: str) -> list[ApiClient]:
        application = self.applications[mode]
        user, operator = self.world.user, self.world.operator
        return [
            self.world.as_application(application),
            self.world.as_user(user, EVERYDAY_SCOPES, application),
            self.world.as_user(operator, EVERY_SCOPE, application),
        ]

    def known(self, mode: str) -> set[str]:
        return {value for (of_mode, _), ids in self.ids.items() if of_mode == mode for value in ids.values()}

    def state(self, mode: str) -> str:
        with connection.cursor() as cursor:
            cursor.execute(STATE.format(owned=OWNED), {"mode": mode == "test"})
            return str(cursor.fetchone()[0])


@dataclass(frozen=True)
class Case:
    operation: tuple[str, str]
    method: str
    path: str
    body: Any
    caller: int
    names_other: bool


def make_twins(world: World) -> Twins:
    """The hardest case: both applications may do everything in the store."""
    for open_store in (world.associated, world.demo):
        make_product(open_store)
        make_photo_card(open_store)
    applications = {"live": world.application, "test": add_test_application(world)}
    for application in applications.values():
        Role.objects.bulk_create(
            [
                Role(application=application, store=world.associated, grant=grant)
                for grant in ("Order.All.Read", "Order.All.Write", "Store.All.Read")
            ],
            ignore_conflicts=True,
        )
    Subscription.objects.update(requests_per_minute=10_000_000)
    twins = Twins(world, applications)
    for mode in MODES:
        for store in STORES:
            twins.ids[mode, store] = _one_of_everything(twins, mode, store)
    return twins


def _one_of_everything(twins: Twins, mode: str, store: str) -> dict[str, str]:
    world, application = twins.world, twins.applications[mode]
    client = world.as_application(application)
    quote = client.call("POST", f"/store/{store}/quote", QUOTE).json()
    external = f"{mode}-{store}"
    order = client.call("POST", f"/store/{store}/order", {**ORDER, "ExternalID": external}).json()
    batch = client.call("POST", f"/store/{store}/batch", BATCH).json()
    webhook, _ = create_webhook(application=application, values={"URL": "https://192.0.43.8/events"})
    delivery = send_test_event(webhook=webhook)
    requested, _ = request_association(
        caller=Caller.on_pages(world.user), application=application, store=world.unassociated
    )
    # Budgets are about live orders alone.
    holder = getattr(world, store)
    budget = make_budget(enable_budgets(holder), Limit=10**9).pk if mode == "live" else uuid4()
    return {
        "budget": str(budget),
        "quote": quote["QuoteID"],
        "order": order["OrderID"],
        "batch": batch["BatchID"],
        "number": order["OrderNumber"],
        "external": external,
        "asset": upload(client) if store == "associated" else "",
        "application": str(application.pk),
        "client_id": application.client_id,
        "key": str(application.keys.get().pk),
        "webhook": str(webhook.pk),
        "event": str(delivery.event.event_id),
        "association": str(requested.pk),
    }


def crossings(twins: Twins, *, count: int, seed: int = 1) -> tuple[int, list[str]]:
    """How many cases were tried, and what crossed."""
    chance = random.Random(seed)
    faults: list[str] = []
    tried = 0
    while tried < count:
        for mode, other in (MODES, MODES[::-1]):
            before, known = twins.state(other), twins.known(other) - {""}
            callers = twins.callers(mode)
            for case in _cases(twins, mode, other, chance):
                tried += 1
                response = callers[case.caller].call(case.method, case.path, case.body)
                content = b"".join(response) if response.streaming else response.content
                sent = case.path + json.dumps(case.body)
                leaks = [
                    value
                    for value in known
                    if value not in sent and value in content.decode("utf-8", "replace")
                ]
                if leaks or (case.names_other and response.status_code < 300):
                    faults.append(f"{mode}: {case} {response.status_code} {leaks}")
            if twins.state(other) != before:
                faults.append(f"{mode}: a record of {other} was changed")
    return tried, faults


def _cases(twins: Twins, mode: str, other: str, chance: random.Random) -> Iterator[Case]:
    """Every operation and every caller once, with places and values by chance."""
    for operation, row in ROWS.items():
        for caller in range(3):
            store = chance.choice(STORES)
            own = {
                **twins.ids[mode, store],
                "user": str(twins.world.user.pk),
                "today": "2026-11-22T00:00:00Z",
            }
            yield _case(operation, row, caller, own, twins.ids[other, store], store, chance)


def _case(
    operation: tuple[str, str],
    row: Row,
    caller: int,
    own: dict[str, str],
    foreign: dict[str, str],
    store: str,
    chance: random.Random,
) -> Case:
    template = row.path.replace("/store/associated", f"/store/{store}")
    names = [name for _, name, _, _ in Formatter().parse(template) if name in foreign]
    chosen = {name for name in names if chance.random() < 0.6}
    if names and not chosen:
        chosen = {chance.choice(names)}
    values = {**own, **{name: _spelled(name, foreign, chance) for name in chosen}}
    body, in_body = _body(operation, row.body, values, foreign, chance)
    path = template.format(**values)
    if operation[1] == "GET":
        path += _query(operation[0], foreign, chance)
    return Case(operation, operation[1], path, body, caller, bool(chosen) or in_body)


def _spelled(name: str, foreign: dict[str, str], chance: random.Random) -> str:
    spellings = [foreign[name], foreign[name].upper()]
    if name == "application":
        spellings.append(foreign["client_id"])
    if name == "order":
        spellings.append(f"@{foreign['external']}")
    return chance.choice(spellings)


def _body(
    operation: tuple[str, str],
    body: Any,
    values: dict[str, str],
    foreign: dict[str, str],
    chance: random.Random,
) -> tuple[Any, bool]:
    """What the operation takes, and whether it names something of the other mode."""
    if operation == ("order-list", "POST"):
        return chance.choice(_orders(foreign)), True
    if operation == ("association-list", "POST"):
        application = chance.choice([foreign["application"], foreign["client_id"]])
        return chance.choice(
            [{"ApplicationID": application}, {"ApplicationID": application, "StoreID": "unassociated"}]
        ), True
    if operation == ("application-list", "POST"):
        # Each would be another one of its owner's, up to their limit.
        return {"Name": ""}, False
    if operation == ("user-list", "POST"):
        return {**body, "Password": "1"}, False
    if not isinstance(body, dict):
        return body, False
    return {
        name: value.format(**values) if isinstance(value, str) else value for name, value in body.items()
    }, False


def _orders(foreign: dict[str, str]) -> list[dict[str, Any]]:
    photo = {
        "ProductID": "photo-card",
        "Quantity": 100,
        "TemplateData": {"Photo": foreign["asset"] or "none"},
    }
    return [
        order_body(QuoteID=foreign["quote"], OptionID="GROUND-3"),
        order_body(ReprintOfOrderID=foreign["order"]),
        order_body(ReprintOfOrderID=f"@{foreign['external']}"),
        {**order_body(), "Items": [photo]},
    ]


def _query(route: str, foreign: dict[str, str], chance: random.Random) -> str:
    choices = {
        "order-exportview": [
            "",
            "?includeTest=true",
            "?includeTest=true&verbose=true&take=1000",
            "?includeTest=true&format=csv",
            "?verbose=true",
            "?status=10&includeTest=true",
            "?productID=card&includeTest=true",
            "?createdAfter=2020-01-01T00:00:00Z&includeTest=true",
            "?updatedAfter=2020-01-01T00:00:00Z",
            f"?externalID={foreign['external']}&includeTest=true",
            f"?orderNumber={foreign['number']}&includeTest=true",
            f"?orderNumber={foreign['number']}",
            f"?externalID={foreign['external']}",
            # The first place of the test orders there is, and of the live ones.
            "?after=cC0yMTQ3NDgzNjQ4",
            "?after=cDA&includeTest=false",
            "?includeTest=true&after=dDAuLTIxNDc0ODM2NDg",
        ],
        "event-list": ["", f"?orderID={foreign['order']}", f"?after={foreign['event']}"],
        "application-list": ["", "?verbose=true"],
        "application-detail": ["", "?verbose=true"],
        "association-list": ["", "?state=Pending"],
    }
    return chance.choice(choices.get(route, [""]))
