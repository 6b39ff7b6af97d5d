"""The demo catalog: three stores as data files of this package, with designed templates for some products."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any

from django.conf import settings

from accounts.demo import OPERATOR, OUTSIDER, USER
from accounts.models import Role
from accounts.permissions import DEFAULT_STORE_GRANTS
from applications.demo import issue_demo_token
from applications.registration.services.applications import OWNER_GRANTS
from fulfillment.core.plugins import DemoCard, DemoRun
from printing.typesetting import load_template_folder
from stores.catalog.models import Product, Store, StoreProfile
from stores.catalog.services.imports import ImportSummary, import_catalog
from stores.demo.activity import load_activity
from stores.demo.orders import draw_pictures as draw_pictures

ASSOCIATED, UNASSOCIATED, DEMO = "summit-print", "harbor-press", "demo"
STORE_STAFF_GRANTS = ("Store.All.Read", "Order.All.Read", "Order.All.Write")
FOLDER = Path(__file__).resolve().parent


PROFILES = {
    ASSOCIATED: {"country": "United States", "website": "https://summit-print.example"},
    UNASSOCIATED: {"country": "Canada", "website": "https://harbor-press.example"},
    DEMO: {"country": "United States"},
}


def load_demo(run: DemoRun) -> None:
    load_demo_catalog()
    for store in Store.objects.filter(external_id__in=PROFILES, profile__isnull=True):
        StoreProfile.objects.create(store=store, is_listed=True, **PROFILES[store.external_id])
    if run.application is not None:
        _set_roles(run)
        load_activity(run)


def reset_demo(run: DemoRun) -> None:
    _set_roles(run)


def demo_record(run: DemoRun) -> dict[str, Any]:
    return {
        "stores": [
            {"id": ASSOCIATED, "role": "associated"},
            {"id": UNASSOCIATED, "role": "unassociated"},
            {"id": DEMO, "role": "demo"},
        ],
        "products": _product_records(),
    }


def demo_card(run: DemoRun) -> DemoCard:
    token = issue_demo_token(run.people[USER.username])
    return DemoCard(
        sign_ins=[("operator", OPERATOR.username, OPERATOR.password), ("user", USER.username, USER.password)],
        curl=(
            f"curl -H 'Authorization: Bearer {token}' "
            f"-H 'Ocp-Apim-Subscription-Key: {USER.subscription_key}' {settings.API_URL}/store/{ASSOCIATED}"
        ),
    )


def load_demo_catalog() -> ImportSummary | None:
    """Imports the demo stores if one of them is missing; returns None if all exist."""
    catalog = demo_catalog()
    ids = [store["StoreID"] for store in catalog["Stores"]]
    if Store.objects.filter(external_id__in=ids).count() == len(ids):
        return None
    return import_catalog(source=BytesIO(json.dumps(catalog).encode()), check_templates=False)


def demo_catalog() -> dict[str, Any]:
    """The catalog file with the templates and their fields filled in."""
    catalog: dict[str, Any] = json.loads((FOLDER / "catalog.json").read_text("utf-8"))
    for store in catalog["Stores"]:
        for product in store["Products"]:
            folder = FOLDER / "templates" / product["ID"]
            if folder.is_dir():
                _add_template(product, folder)
    return catalog


def _add_template(product: dict[str, Any], folder: Path) -> None:
    template = load_template_folder(folder)
    product["Template"] = template
    product["PageCount"] = len(template["Pages"])
    fields = json.loads((folder / "fields.json").read_text("utf-8"))
    product["TemplateFields"] = [{"Choices": [], **field} for field in fields]


def _set_roles(run: DemoRun) -> None:
    store = Store.objects.get(external_id=ASSOCIATED)
    user, application = run.people[USER.username], run.application
    roles = [
        *(Role(user=user, store=store, grant=grant) for grant in STORE_STAFF_GRANTS),
        *(Role(user=user, application=application, grant=grant) for grant in OWNER_GRANTS),
        *(Role(application=application, store=store, grant=grant) for grant in DEFAULT_STORE_GRANTS),
    ]
    Role.objects.filter(user=run.people[OUTSIDER.username]).delete()
    Role.objects.filter(application=application, store__isnull=False).exclude(store=store).delete()
    Role.objects.bulk_create(roles, ignore_conflicts=True)


def _product_records() -> list[dict[str, Any]]:
    products = Product.objects.filter(is_active=True, store__external_id__in=(ASSOCIATED, UNASSOCIATED, DEMO))
    rows = products.order_by("store", "position", "pk").values_list(
        "store__external_id", "external_id", "template_fields__field_name"
    )
    has_template: dict[tuple[str, str], bool] = {}
    for store_id, product_id, field_name in rows:
        has_template[store_id, product_id] = field_name is not None
    return [{"store_id": s, "id": p, "has_template": t} for (s, p), t in has_template.items()]
