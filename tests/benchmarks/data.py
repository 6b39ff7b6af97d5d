"""Fills the benchmark's database of DATABASE_URL: `python -m tests.benchmarks.data 1`. The last line it prints are
the facts its callers need.

Each store has 100 products of nine child rows each and 2,000 orders. The first one and its orders are made by the
services, the others are copies of it: what is measured is the reading of one among them.
"""

import io
import json
import sys
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import django
import orjson

from tests.benchmarks.databases import STORES, TOKENS

STORE, WORKSHOP, PEER = "bench", "workshop", "peer"
PRODUCTS, ORDERS = 100, 2_000
OWNER = "owner"
REFRESH_TOKENS = 256
FILLED = "CREATE TABLE bench_is_filled AS SELECT now() AS at"


def main(scale: int) -> None:
    django.setup()
    from django.core.management import call_command
    from django.db import connection

    call_command("migrate", verbosity=0)
    if "bench_is_filled" not in connection.introspection.table_names():
        fill(scale)
        with connection.cursor() as cursor:
            cursor.execute(FILLED)
    sys.stdout.write(orjson.dumps(facts()).decode() + "\n")


def fill(scale: int) -> None:
    from django.core.management import call_command
    from django.db import connection

    from fulfillment.core.audit.guards import ALLOW_TRUNCATE
    from stores.catalog.models import Store
    from stores.catalog.services.imports import import_catalog
    from tests.benchmarks.copies import copy_stores, make_tokens
    from tests.benchmarks.delivery import write_national_file
    from tests.factories.orders import make_card, make_product
    from tests.support.sample_orders import create_sample_orders

    with connection.cursor() as cursor:
        cursor.execute(f"SET {ALLOW_TRUNCATE} = on")
    call_command("flush", interactive=False, verbosity=0)
    import_catalog(source=io.BytesIO(json.dumps(_catalog()).encode()))
    make_application("Bench", [STORE, WORKSHOP, PEER])
    workshop = Store.objects.get(external_id=WORKSHOP)
    make_product(workshop, "plain")
    make_product(Store.objects.get(external_id=PEER), "plain")
    make_card(workshop, "card")
    create_sample_orders(count=ORDERS, stores=[Store.objects.get(external_id=STORE)])
    with tempfile.TemporaryDirectory() as folder:
        routes = Path(folder) / "national-2026-01.csv"
        write_national_file(routes)
        call_command("import_eddm", str(routes), "--force", stdout=io.StringIO(), stderr=io.StringIO())
    copy_stores(STORE, count=STORES * scale - 1)
    make_tokens(make_application("Other", []), count=TOKENS * scale)


def facts() -> dict[str, Any]:
    """The credentials of this run, what is sent with them, and how many statements each row takes."""
    from accounts.selectors.users import subscription_keys
    from applications.registration.models import Application
    from fulfillment.core.secrets import decrypt
    from tests.benchmarks.counting import count_statements

    application = Application.objects.get(name="Bench")
    lift_limits()
    secret = decrypt(application.keys.get().ciphertext)
    # What the toolkit as it comes compares with: by Django's own first hasher.
    _keep_hash(application, secret)
    found = {
        "headers": {
            "Authorization": f"Bearer {access_token(application)}",
            "Ocp-Apim-Subscription-Key": subscription_keys(application.subscription)["primary"],
        },
        "client": {"id": application.client_id, "secret": secret},
        "application": str(application.pk),
        "refresh": {name: _refresh_tokens(application) for name in ("ours", "peer")},
        **_proof_facts(),
    }
    return found | {"statements": count_statements(found)}


def make_application(name: str, store_ids: list[str]) -> Any:
    from accounts.callers import Caller
    from accounts.models import Role, Tenant, User
    from accounts.permissions import STORE_GRANTS
    from accounts.services.users import create_user
    from applications.registration.services.applications import create_application
    from stores.catalog.models import Store

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
    stores = Store.objects.filter(external_id__in=store_ids)
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


def access_token(application: Any) -> str:
    from accounts.permissions import Permission
    from applications.oauth.services import issue_access_token

    scopes = [name for name in Permission.values if name != Permission.OPERATOR]
    return issue_access_token(user=None, application=application, scopes=scopes, lifetime=timedelta(hours=6))


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


def _catalog() -> dict[str, object]:
    common = {"CompanyName": "Bench Print", "Currency": "USD", "TimeZone": "UTC"}
    return {
        "Format": "store-fulfillment-catalog",
        "Version": 1,
        "Stores": [
            {"StoreID": STORE, **common, "Products": [_product(number) for number in range(PRODUCTS)]},
            {"StoreID": WORKSHOP, **common, "Products": []},
            {"StoreID": PEER, **common, "Products": []},
        ],
    }


def _product(number: int) -> dict[str, object]:
    """Nine child rows: four prices, three fields, two speeds."""
    return {
        "ID": f"product-{number:03}",
        "APIKey": f"P{number:03}",
        "Name": f"Postcard number {number}",
        "Description": "A postcard on heavy stock, printed on both sides, with a matte finish. " * 3,
        "Category": "Postcards",
        "ImageURL": "/static/catalog/postcard.svg",
        "DefaultQty": 500,
        "MinimumQty": 100,
        "MaximumQty": 10_000,
        "IncrementQty": 100,
        "DeliveryMethod": "GROUND",
        "PageCount": 2,
        "WidthMM": 152.4,
        "HeightMM": 101.6,
        "TemplateFields": [
            {
                "FieldName": name,
                "Prompt": name,
                "Type": "Text",
                "SubType": "SingleLine",
                "Required": True,
                "DefaultValue": "",
                "OrgValue": "",
                "Choices": [],
            }
            for name in ("Headline", "Offer", "Address")
        ],
        "DeliveredPrices": [
            {
                "DeliveryMethodCode": method,
                "Description": f"{method} to {place}",
                "Price": round(0.25 + number / 100, 2),
                "Country": "United States",
                "CountryCode": "US",
                "LocationType": place,
                "IsDefault": method == "GROUND" and place == "Commercial",
            }
            for method in ("GROUND", "OVERNIGHT")
            for place in ("Commercial", "Residential")
        ],
        "ProductionSpeeds": [{"Days": 3, "IsDefault": True}, {"Days": 1, "IsDefault": False}],
    }


if __name__ == "__main__":
    main(int(sys.argv[1]))
