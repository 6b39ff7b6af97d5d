"""A Medusa shop, used through its own HTTP API alone: by its admin, and by buyers."""

import contextlib
import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

import requests

from tests.shop.processes import Process, running
from tests.support.servers.ports import free_port

ADMIN = {"email": "admin@shop.example", "password": "copper-meadow-kite"}
STOREFRONT = f"http://127.0.0.1:{free_port()}"
PROVIDER = "store-fulfillment_print"
ADDRESS = {
    "first_name": "Dana",
    "last_name": "Whitfield",
    "address_1": "1200 17th Street",
    "city": "Denver",
    "province": "us-co",
    "postal_code": "80202",
    "country_code": "us",
}
CARD = {"Name": "Ada Lovelace", "Email": "ada@example.com"}


class Refused(AssertionError):
    """The shop's answer with an error status."""


@dataclass
class Shop:
    url: str
    process: Process
    token: str = ""
    key: str = ""
    known: dict[str, str] = field(default_factory=dict)

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """With a body that is sent as JSON, or is a PDF."""
        headers = {"x-publishable-api-key": self.key} if path.startswith("/store") else {}
        if path.startswith("/admin"):
            headers = {"Authorization": f"Bearer {self.token}"}
        content = {"json": body}
        if isinstance(body, bytes):
            headers["Content-Type"] = "application/pdf"
            content = {"data": body}
        response = requests.request(method, f"{self.url}{path}", headers=headers, timeout=120, **content)
        if not response.ok:
            raise Refused(f"{method} {path}: {response.status_code} {response.text}")
        return response.json() if response.content else None

    def post(self, path: str, body: Any = None) -> Any:
        return self.call("POST", path, body if body is not None else {})

    def get(self, path: str) -> Any:
        return self.call("GET", path)

    # The admin

    def sign_in(self) -> None:
        self.token = self.post("/auth/user/emailpass", ADMIN)["token"]

    def set_up(self) -> None:
        """A shop in US dollars that delivers by the print store."""
        self.sign_in()
        channel = self.post("/admin/sales-channels", {"name": "Web"})["sales_channel"]["id"]
        key = self.post("/admin/api-keys", {"title": "Storefront", "type": "publishable"})["api_key"]
        self.post(f"/admin/api-keys/{key['id']}/sales-channels", {"add": [channel]})
        self.key = key["token"]
        location = self.post("/admin/stock-locations", {"name": "Print"})["stock_location"]["id"]
        self.post(f"/admin/stock-locations/{location}/sales-channels", {"add": [channel]})
        self.post(f"/admin/stock-locations/{location}/fulfillment-providers", {"add": [PROVIDER]})
        sets = self.post(
            f"/admin/stock-locations/{location}/fulfillment-sets?fields=*fulfillment_sets",
            {"name": "Print", "type": "shipping"},
        )
        [fulfillment_set] = sets["stock_location"]["fulfillment_sets"]
        zones = self.post(
            f"/admin/fulfillment-sets/{fulfillment_set['id']}/service-zones",
            {
                "name": "World",
                "geo_zones": [{"type": "country", "country_code": code} for code in ("us", "ca")],
            },
        )
        zone = zones["fulfillment_set"]["service_zones"][0]["id"]
        profile = self.post("/admin/shipping-profiles", {"name": "Print", "type": "print"})[
            "shipping_profile"
        ]
        self.known |= {"channel": channel, "zone": zone, "profile": profile["id"]}
        self.known["region"] = self.region("usd", "us")
        self.known["option"] = self.shipping_option("summit-print:GROUND", self.known["profile"])
        self.known["variant"] = self.product("Business cards")
        self.map(self.known["variant"])

    def region(self, currency: str, country: str) -> str:
        providers = ["pp_system_default"]
        body = {
            "name": country,
            "currency_code": currency,
            "countries": [country],
            "payment_providers": providers,
        }
        return self.post("/admin/regions", body)["region"]["id"]

    def shipping_option(self, option_id: str, profile: str) -> str:
        found = self.get(f"/admin/fulfillment-providers/{PROVIDER}/options")["fulfillment_options"]
        [option] = [one for one in found if one["id"] == option_id]
        made = self.post(
            "/admin/shipping-options",
            {
                "name": option["name"],
                "service_zone_id": self.known["zone"],
                "shipping_profile_id": profile,
                "provider_id": PROVIDER,
                "price_type": "calculated",
                "prices": [],
                "type": {"label": "Print", "description": "Printed and delivered", "code": "print"},
                "data": option,
                "rules": [],
            },
        )
        return made["shipping_option"]["id"]

    def product(self, title: str) -> str:
        """Its variant."""
        prices = [{"amount": 20, "currency_code": code} for code in ("usd", "eur")]
        variant = {
            "title": "Box of 500",
            "options": {"Size": "500"},
            "prices": prices,
            "manage_inventory": False,
        }
        made = self.post(
            "/admin/products",
            {
                "title": title,
                "status": "published",
                "shipping_profile_id": self.known["profile"],
                "options": [{"title": "Size", "values": ["500"]}],
                "variants": [variant],
                "sales_channels": [{"id": self.known["channel"]}],
            },
        )
        return made["product"]["variants"][0]["id"]

    def map(self, variant: str, product: str = "business-card-standard", **fields: str) -> None:
        body = {"store_id": "summit-print", "product_id": product, "pieces": 500, "fields": fields}
        self.post(f"/admin/print/variants/{variant}", body)

    def capture(self, order_id: str) -> None:
        fields = "payment_collections.payments.id"
        order = self.get(f"/admin/orders/{order_id}?fields={fields}")["order"]
        for collection in order["payment_collections"]:
            for payment in collection["payments"]:
                self.post(f"/admin/payments/{payment['id']}/capture")

    def edit(self, order_id: str, path: str, body: Any) -> None:
        """A change of what was ordered, paid where it costs more."""
        self.post("/admin/order-edits", {"order_id": order_id})
        try:
            self.post(f"/admin/order-edits/{order_id}/items{path}", body)
        except Refused:
            self.call("DELETE", f"/admin/order-edits/{order_id}")
            raise
        self.post(f"/admin/order-edits/{order_id}/confirm")
        order = self.get(f"/admin/orders/{order_id}?fields=*payment_collections")["order"]
        for collection in order["payment_collections"]:
            if collection["status"] == "not_paid":
                self.post(
                    f"/admin/payment-collections/{collection['id']}/mark-as-paid", {"order_id": order_id}
                )

    def order(self, order_id: str) -> dict[str, Any]:
        fields = "id,status,fulfillment_status,shipping_total,*fulfillments,*fulfillments.labels"
        return self.get(f"/admin/orders/{order_id}?fields={fields}")["order"]

    def prints(self, order_id: str) -> list[dict[str, Any]]:
        """What the widget of the order shows."""
        return self.get(f"/admin/print/orders/{order_id}")["orders"]

    def look(self) -> None:
        """What the scheduled job does each five minutes."""
        self.post("/admin/print/look")

    # A buyer

    def cart(
        self,
        *variants: str,
        region: str = "",
        country: str = "us",
        card: Mapping[str, str] = CARD,
        artwork: Mapping[str, str] | None = None,
    ) -> str:
        variants = variants or (self.known["variant"],)
        content = {"print_artwork": artwork} if artwork else {"print": dict(card)}
        lines = [{"variant_id": one, "quantity": 1, "metadata": content} for one in variants]
        body = {
            "region_id": region or self.known["region"],
            "sales_channel_id": self.known["channel"],
            "email": "dana@example.com",
            "shipping_address": ADDRESS | {"country_code": country},
            "items": lines,
        }
        return self.post("/store/carts", body)["cart"]["id"]

    def check_out(self, cart: str) -> dict[str, Any]:
        self.post(f"/store/carts/{cart}/shipping-methods", {"option_id": self.known["option"]})
        collection = self.post("/store/payment-collections", {"cart_id": cart})["payment_collection"]["id"]
        session = {"provider_id": "pp_system_default"}
        self.post(f"/store/payment-collections/{collection}/payment-sessions", session)
        done = self.post(f"/store/carts/{cart}/complete")
        assert done["type"] == "order", done
        return done["order"]

    def buy(self, *variants: str, **options: Any) -> str:
        """A paid order."""
        order = self.check_out(self.cart(*variants, **options))
        self.capture(order["id"])
        return order["id"]


def settings_of(service_url: str, demo: Mapping[str, Any], secrets: str) -> dict[str, str]:
    application = demo["application"]
    return {
        "FULFILLMENT_URL": service_url,
        "FULFILLMENT_CLIENT_ID": application["external_id"],
        "FULFILLMENT_CLIENT_SECRET": application["key"],
        "FULFILLMENT_SUBSCRIPTION_KEY": application["subscription_key"],
        "FULFILLMENT_WEBHOOK_SECRETS": secrets,
    }


@contextlib.contextmanager
def open_shop(
    folder: Path, log: Path, database: str, url: str, settings: Mapping[str, str], *, has_pages: bool
) -> Iterator[Shop]:
    environment = {
        **{name: os.environ[name] for name in ("PATH", "HOME")},
        # In production Medusa's sign-in wants https.
        "NODE_ENV": "development" if has_pages else "production",
        "DISABLE_MEDUSA_ADMIN": str(not has_pages).lower(),
        **{name: token_urlsafe() for name in ("JWT_SECRET", "COOKIE_SECRET")},
        "STORE_CORS": STOREFRONT,
        "MEDUSA_DISABLE_TELEMETRY": "1",
        "DATABASE_URL": database,
        **settings,
    }
    medusa = folder / "node_modules" / ".bin" / "medusa"

    def run(*arguments: str) -> None:
        done = subprocess.run(
            [medusa, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"medusa {arguments[0]}:\n{done.stdout[-3000:]}{done.stderr[-1000:]}"

    run("db:migrate", "--skip-scripts")
    run("user", "--email", ADMIN["email"], "--password", ADMIN["password"])
    if has_pages:
        run("build")
        folder = folder / ".medusa" / "server"
    start = [medusa, "start", "--port", url.rsplit(":", 1)[1], "--host", "127.0.0.1"]
    process = Process(start, folder, environment, log, f"{url}/health")
    with running(process):
        yield Shop(url, process)


def free_url() -> str:
    return f"http://127.0.0.1:{free_port()}"
