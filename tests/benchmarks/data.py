"""Fills the benchmark's database of DATABASE_URL: `python -m tests.benchmarks.data` with a Size as JSON. The last line
it prints are the facts its callers need.

Every store has as many products of nine child rows each. What is measured is the reading of one store among them.
"""

import io
import sys
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson

from tests.benchmarks.databases import Size, set_up

# The first store, which is read; a second one like all others; one for orders and proofs; one for the peer's orders.
STORE, TYPICAL, WORKSHOP, PEER = "bench", "bench-2", "workshop", "peer"
OWNER = "owner"
REFRESH_TOKENS = 256
FILLED = "CREATE TABLE bench_is_filled AS SELECT now() AS at"
TOKENS = """
INSERT INTO oauth2_provider_accesstoken
    (token, expires, scope, application_id, created, updated, token_checksum, resource)
SELECT '', now() + interval '30 days', 'Store.Self.Read', %s, now(), now(),
       encode(sha256(convert_to(%s || g, 'UTF8')), 'hex'), '[]'
FROM generate_series(1, %s) g
"""


def main(size: Size) -> None:
    set_up()
    from django.db import connection

    if "bench_is_filled" not in connection.introspection.table_names():
        fill(size)
        with connection.cursor() as cursor:
            cursor.execute(FILLED)
    add_orders(size)
    sys.stdout.write(orjson.dumps(facts()).decode() + "\n")


def fill(size: Size) -> None:
    """All but the orders."""
    from django.core.management import call_command
    from django.db import connection

    from stores.catalog.models import Store
    from stores.catalog.services.imports import import_catalog
    from tests.benchmarks.delivery import write_national_file
    from tests.factories.orders import make_card, make_product

    empty_database()
    import_catalog(source=io.BytesIO(orjson.dumps(_catalog(size), default=float)))
    workshop = Store.objects.get(external_id=WORKSHOP)
    make_product(workshop, "plain")
    make_product(Store.objects.get(external_id=PEER), "plain")
    make_card(workshop, "card")
    make_application("Bench", Store.objects.all())
    with tempfile.TemporaryDirectory() as folder:
        routes = Path(folder) / "national-2026-01.csv"
        write_national_file(routes)
        call_command("import_eddm", str(routes), "--force", stdout=io.StringIO(), stderr=io.StringIO())
    other = make_application("Other", [])
    with connection.cursor() as cursor:
        cursor.execute(TOKENS, [other.pk, str(other.pk), size.tokens])


def empty_database() -> None:
    from django.core.management import call_command
    from django.db import connection

    from fulfillment.core.audit.guards import ALLOW_TRUNCATE
    from tests.support.servers.workers import forget_jobs

    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        cursor.execute(f"SET {ALLOW_TRUNCATE} = on")
    call_command("flush", interactive=False, verbosity=0)
    forget_jobs()


def add_orders(size: Size) -> None:
    """Up to so many in all; they stay from run to run, with those that the runs place."""
    from django.db import connection

    from stores.catalog.models import Store
    from stores.orders.models import Order
    from tests.support.orders.sample_orders import create_sample_orders

    first = Store.objects.get(external_id=STORE)
    others = list(Store.objects.exclude(external_id__in=[STORE, PEER]).order_by("pk"))
    missing = size.first - Order.objects.filter(store=first).count()
    if missing > 0:
        create_sample_orders(count=missing, stores=[first], with_history=False)
    missing = size.orders - count_orders()
    if missing > 0:
        print(f"Creating {missing:,} orders", file=sys.stderr)
        create_sample_orders(count=missing, stores=others, with_history=False)
        with connection.cursor() as cursor:
            cursor.execute("SET statement_timeout = 0")
            cursor.execute("VACUUM ANALYZE")
            cursor.execute("CHECKPOINT")


def count_orders() -> int:
    from django.db.models import Sum

    from stores.orders.models import OrderTally

    return OrderTally.objects.aggregate(n=Sum("orders"))["n"] or 0


def facts() -> dict[str, Any]:
    """The credentials of this run, what is sent with them, and how many statements each row takes."""
    from applications.registration.models import Application
    from fulfillment.core.secrets import decrypt

    application = Application.objects.get(name="Bench")
    lift_limits()
    secret = decrypt(application.keys.get().ciphertext)
    # What the toolkit as it comes compares with: by Django's own first hasher.
    _keep_hash(application, secret)
    card = _proof_facts()
    figures = {
        "headers": headers_of(application),
        "client": {"id": application.client_id, "secret": secret},
        "refresh": {name: _refresh_tokens(application) for name in ("ours", "peer")},
        "stored": count_orders(),
        "order": _an_order(),
        "bodies": _bodies(card["card"]),
        **card,
    }
    return figures | {"statements": count_statements(figures)}


def make_application(name: str, stores: Any) -> Any:
    """With every grant in these stores."""
    from accounts.callers import Caller
    from accounts.models import Role, Tenant, User
    from accounts.permissions import STORE_GRANTS
    from accounts.services.users import create_user
    from applications.registration.services.applications import create_application

    tenant, _ = Tenant.objects.get_or_create(domain="bench.example", defaults={"name": "Bench"})
    owner = User.objects.filter(username=OWNER).first() or create_user(
        tenant=tenant,
        username=OWNER,
        first_name="Ada",
        last_name="Lovelace",
        email="ada@bench.example",
        password="a long pass phrase",
    )
    application = create_application(caller=Caller.on_pages(owner), values={"Name": name, "Keys": [{}]})
    lift_limits()
    Role.objects.bulk_create(
        [
            Role(application=application, store=store, grant=grant)
            for store in stores
            for grant in STORE_GRANTS
        ]
    )
    return application


def lift_limits() -> None:
    """Requests are counted as ever, but never refused."""
    from accounts.models import Subscription

    Subscription.objects.update(requests_per_minute=1_000_000_000)


def headers_of(application: Any) -> dict[str, str]:
    from accounts.permissions import Permission
    from accounts.selectors.users import subscription_keys
    from applications.oauth.services import issue_access_token

    scopes = [name for name in Permission.values if name != Permission.OPERATOR]
    token = issue_access_token(user=None, application=application, scopes=scopes, lifetime=timedelta(hours=6))
    return {
        "Authorization": f"Bearer {token}",
        "Ocp-Apim-Subscription-Key": subscription_keys(application.subscription)["primary"],
    }


def count_statements(facts: dict[str, Any]) -> dict[str, int]:
    """How many statements each row takes, counted in this process."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from tests.benchmarks.rows import ROWS, sent

    client, counts = Client(SERVER_NAME="127.0.0.1"), {}
    for row in ROWS:
        request = sent(row, facts, "ours")
        headers = dict(request.headers)
        if row.conditional:
            headers["If-None-Match"] = client.get(row.path, headers=headers).headers["ETag"]
        body = request.body
        if request.pool:
            # The counted refresh spends the last token of the pool.
            body = f"{request.form}&refresh_token={facts['refresh']['ours'].pop()}".encode()
        method, kind = "POST" if row.sends else "GET", headers.pop("Content-Type", "")
        if row.sends == "proof":
            client.generic(method, request.path, body, content_type=kind, headers=headers)
        with CaptureQueriesContext(connection) as queries:
            response = client.generic(method, request.path, body or b"", content_type=kind, headers=headers)
        if response.status_code >= 400:
            raise RuntimeError(f"{row.title}: {response.status_code} {response.content[:300]!r}")
        counts[row.title] = len(queries)
    return counts


def _refresh_tokens(application: Any) -> list[str]:
    """Each the start of a chain of its own: a token is good for one refresh."""
    from django.utils import timezone
    from oauth2_provider.models import AccessToken, RefreshToken, set_token_value

    from accounts.models import User
    from applications.oauth.tokens import generate_access_token, generate_refresh_token, new_token_family

    owner, values = User.objects.get(username=OWNER), []
    for _ in range(REFRESH_TOKENS):
        access = AccessToken(
            user=owner,
            application=application,
            scope="Store.Self.Read",
            expires=timezone.now() + timedelta(hours=6),
        )
        set_token_value(access, generate_access_token(None))
        access.save()
        refresh = RefreshToken(
            user=owner, application=application, access_token=access, token_family=new_token_family()
        )
        values.append(generate_refresh_token(None))
        set_token_value(refresh, values[-1])
        refresh.save()
    return values


def _keep_hash(application: Any, secret: str) -> None:
    from django.contrib.auth.hashers import PBKDF2PasswordHasher

    hasher = PBKDF2PasswordHasher()
    type(application).objects.filter(pk=application.pk).update(
        client_secret=hasher.encode(secret, hasher.salt()), hash_client_secret=True
    )


def _proof_facts() -> dict[str, Any]:
    """The card's data with every field, so that what was sent is what is printed; its fingerprint and its preset."""
    from accounts.callers import Caller
    from stores.catalog.models import Product
    from stores.proofs.selectors import product_version_of
    from stores.proofs.services.merging import merge_template
    from tests.factories.orders import card_data

    product = Product.objects.get(store__external_id=WORKSHOP, external_id="card")
    filling = merge_template(caller=Caller(), product=product_version_of(product.pk), values=card_data())
    return {
        "card": filling.values,
        "fingerprint": filling.layout.fingerprint.hex(),
        "preset": filling.product.preset or "",
    }


def _bodies(card: dict[str, str]) -> dict[str, Any]:
    """What is posted, by its name in rows and in orders."""
    from tests.factories.orders import order_body

    order = order_body(("plain", 100))
    item = {"ProductID": "card", "Quantity": 100, "TemplateData": card}
    return {
        "quote": {"Items": order["Items"], "ShipTo": {"CountryCode": "US"}},
        "order": order,
        "order of a card": order | {"Items": [item]},
        "proof": card,
    }


def _an_order() -> dict[str, str]:
    """One from the middle of the typical store, and a month around it."""
    from stores.orders.models import Order

    orders = Order.objects.filter(store__external_id=TYPICAL)
    order = orders.order_by("created", "id")[orders.count() // 2]
    newest = orders.order_by("-updated")[10]
    month = [order.created + timedelta(days=days) for days in (-15, 15)]
    moments = {"from": month[0], "to": month[1], "updated": order.updated, "newest": newest.updated}
    return {
        "number": str(order.number),
        "product": order.product_ids[0],
        "external": order.external_id,
        **{name: moment.strftime("%Y-%m-%dT%H:%M:%SZ") for name, moment in moments.items()},
    }


def _catalog(size: Size) -> dict[str, object]:
    common = {"CompanyName": "Bench Print", "Currency": "USD", "TimeZone": "UTC"}
    products = [_product(number) for number in range(size.products // size.stores)]
    names = [STORE, *(f"{STORE}-{number}" for number in range(2, size.stores + 1))]
    return {
        "Format": "store-fulfillment-catalog",
        "Version": 1,
        "Stores": [
            *({"StoreID": name, **common, "Products": products} for name in names),
            *({"StoreID": name, **common, "Products": []} for name in (WORKSHOP, PEER)),
        ],
    }


def _product(number: int) -> dict[str, object]:
    """Nine child rows: four prices, three fields, two speeds."""
    from tests.factories.orders import price_values, product_values
    from tests.factories.templates import field

    values = product_values(f"product-{number:03}")
    return values | {
        "Name": f"Postcard number {number}",
        "Description": "A postcard on heavy stock, printed on both sides, with a matte finish. " * 3,
        "WidthMM": 152.4,
        "HeightMM": 101.6,
        "TemplateFields": [field(name, Required=True) for name in ("Headline", "Offer", "Address")],
        "DeliveredPrices": [
            price_values(
                method,
                "0.25",
                location_type=place,
                description=f"{method} to {place}",
                is_default=(method, place) == ("GROUND", "Commercial"),
            )
            for method in ("GROUND", "OVERNIGHT")
            for place in ("Commercial", "Residential")
        ],
    }


if __name__ == "__main__":
    main(Size(**orjson.loads(sys.argv[1])))
