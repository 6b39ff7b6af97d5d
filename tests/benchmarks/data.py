"""The data of the benchmark: one store with 100 products of nine child rows each, and an application that calls."""

import io
import json
import tempfile
from pathlib import Path

import django
from django.core.management import call_command

from tests.benchmarks.delivery import write_national_file

STORE = "bench"
PRODUCTS = 100


def load() -> dict[str, str]:
    """Makes the database anew and returns the credential headers."""
    django.setup()
    from datetime import timedelta

    from accounts.callers import Caller
    from accounts.models import Role, Tenant
    from accounts.permissions import DEFAULT_STORE_GRANTS, Permission
    from accounts.selectors.subscriptions import subscription_keys
    from accounts.services.users import create_user
    from applications.services.applications import create_application
    from applications.services.tokens import issue_access_token
    from stores.models import Store
    from stores.services.catalog_import import import_catalog

    call_command("migrate", verbosity=0)
    call_command("flush", interactive=False, verbosity=0)
    import_catalog(source=io.BytesIO(json.dumps(_catalog()).encode()))
    with tempfile.TemporaryDirectory() as folder:
        routes = Path(folder) / "national-2026-01.csv"
        write_national_file(routes)
        call_command("import_eddm", str(routes), "--force", stdout=io.StringIO(), stderr=io.StringIO())
    owner = create_user(
        tenant=Tenant.objects.create(domain="bench.example", name="Bench"),
        username="owner",
        first_name="Ada",
        last_name="Lovelace",
        email="ada@bench.example",
        password="a long pass phrase",
    )
    application = create_application(caller=Caller.on_pages(owner), values={"Name": "Bench", "Keys": [{}]})
    lift_limits()
    store = Store.objects.get(external_id=STORE)
    Role.objects.bulk_create(
        [Role(application=application, store=store, grant=grant) for grant in DEFAULT_STORE_GRANTS]
    )
    scopes = [name for name in Permission.values if name != Permission.OPERATOR]
    token = issue_access_token(user=None, application=application, scopes=scopes, lifetime=timedelta(hours=6))
    return {
        "Authorization": f"Bearer {token}",
        "Ocp-Apim-Subscription-Key": subscription_keys(application.subscription)["primary"],
    }


def lift_limits() -> None:
    """Requests are counted as ever, but never refused."""
    from accounts.models import Subscription

    Subscription.objects.update(requests_per_minute=1_000_000_000)


def count_queries(path: str, headers: dict[str, str]) -> int:
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as queries:
        Client(headers=headers, SERVER_NAME="127.0.0.1").get(path)
    return len(queries)


def _catalog() -> dict[str, object]:
    return {
        "Format": "store-fulfillment-catalog",
        "Version": 1,
        "Stores": [
            {
                "StoreID": STORE,
                "CompanyName": "Bench Print",
                "Currency": "USD",
                "TimeZone": "UTC",
                "Products": [_product(number) for number in range(PRODUCTS)],
            }
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
