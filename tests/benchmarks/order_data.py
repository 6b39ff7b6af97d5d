"""The data of the orders' benchmark: 50 stores, each with 20 products and a two-sided card."""

from datetime import timedelta

import django
import orjson
from django.core.management import call_command

from tests.benchmarks.data import lift_limits

STORES, PRODUCTS = 50, 20
FIRST, TYPICAL = "bench-01", "bench-02"


def prepare() -> dict[str, str]:
    """The database, and the headers of an operator's own application that reads and writes all orders."""
    django.setup()
    from stores.catalog.models import Store

    call_command("migrate", verbosity=0)
    if Store.objects.count() < STORES:
        _make_stores()
    return _headers()


def count() -> int:
    from django.db.models import Sum

    from stores.orders.models import OrderTally

    return OrderTally.objects.aggregate(n=Sum("orders"))["n"] or 0


def fill(*, to: int, large: int) -> None:
    """Up to so many orders in all, at least `large` of them in the first store."""
    from django.db import connection

    from stores.catalog.models import Store
    from stores.orders.models import Order
    from tests.support.sample_orders import create_sample_orders

    stores = list(Store.objects.order_by("external_id"))
    missing = large - Order.objects.filter(store=stores[0]).count()
    if missing > 0:
        create_sample_orders(count=missing, stores=stores[:1], with_history=False)
    missing = to - count()
    if missing > STORES:
        create_sample_orders(
            count=missing, stores=stores[1:], with_history=False, report=lambda n: print(n, flush=True)
        )
        with connection.cursor() as cursor:
            cursor.execute("SET statement_timeout = 0")
            cursor.execute("VACUUM ANALYZE")


def bodies() -> dict[str, tuple[str, bytes]]:
    from tests.factories.orders import RECIPIENT, card_data

    path = f"/api/v1/store/{TYPICAL}"
    items = [{"ProductID": "product-1", "Quantity": 100}]
    card = [{"ProductID": "card-two-sided", "Quantity": 100, "TemplateData": card_data()}]
    sent = {
        "quote": (f"{path}/quote", {"Items": items, "ShipTo": {"CountryCode": "US"}}),
        "order without template": (f"{path}/order", {"Items": items, "Recipient": RECIPIENT}),
        "order of a two-sided card": (f"{path}/order", {"Items": card, "Recipient": RECIPIENT}),
    }
    return {name: (where, orjson.dumps(body)) for name, (where, body) in sent.items()}


def an_order(store_id: str) -> dict[str, str]:
    """One from the middle of the store, and a month around it."""
    from stores.orders.models import Order

    orders = Order.objects.filter(store__external_id=store_id)
    order = orders.order_by("created", "id")[orders.count() // 2]
    newest = orders.order_by("-updated")[10]
    month = [order.created + timedelta(days=days) for days in (-15, 15)]
    moments = {"from": month[0], "to": month[1], "updated": order.updated, "newest": newest.updated}
    return {
        "number": str(order.number),
        "product": order.product_ids[0],
        "external": order.external_id or "",
        "application": str(order.application_id or ""),
        **{name: moment.strftime("%Y-%m-%dT%H:%M:%SZ") for name, moment in moments.items()},
    }


def _make_stores() -> None:
    from accounts.models import Tenant
    from accounts.services.users import create_user
    from stores.catalog.services.stores import save_store
    from tests.factories.orders import make_card, make_product

    Tenant.objects.get_or_create(domain="bench.example", defaults={"name": "Bench"})
    create_user(
        tenant=Tenant.objects.get(domain="bench.example"),
        username="owner",
        first_name="Ada",
        last_name="Lovelace",
        email="ada@bench.example",
        password="a long pass phrase",
    )
    for number in range(1, STORES + 1):
        values = {
            "StoreID": f"bench-{number:02d}",
            "CompanyName": f"Bench {number}",
            "TimeZone": "America/Denver",
        }
        store = save_store(values=values).store
        for product in range(1, PRODUCTS + 1):
            make_product(store, f"product-{product}")
        if store.external_id == TYPICAL:
            make_card(store)


def _headers() -> dict[str, str]:
    from accounts.callers import Caller
    from accounts.models import Role, User
    from accounts.permissions import STORE_GRANTS, Permission
    from accounts.selectors.users import subscription_keys
    from applications.oauth.services import issue_access_token
    from applications.registration.models import Application
    from applications.registration.services.applications import create_application
    from stores.catalog.models import Store

    application = Application.objects.filter(name="Bench").first() or create_application(
        caller=Caller.on_pages(User.objects.get(username="owner")), values={"Name": "Bench", "Keys": [{}]}
    )
    lift_limits()
    Role.objects.bulk_create(
        [
            Role(application=application, store=store, grant=grant)
            for store in Store.objects.all()
            for grant in STORE_GRANTS
        ],
        ignore_conflicts=True,
    )
    scopes = [name for name in Permission.values if name != Permission.OPERATOR]
    token = issue_access_token(user=None, application=application, scopes=scopes, lifetime=timedelta(hours=6))
    return {
        "Authorization": f"Bearer {token}",
        "Ocp-Apim-Subscription-Key": subscription_keys(application.subscription)["primary"],
    }
