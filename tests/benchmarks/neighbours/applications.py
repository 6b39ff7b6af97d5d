"""Applications with roles in one store."""

from typing import Any

from tests.benchmarks.neighbours.kinds import Kinds
from tests.benchmarks.neighbours.raw import UNIQUE, api, token_request
from tests.benchmarks.neighbours.scene import CARD, CODES, Scene

APPLICATIONS = Kinds("application")
EXPORT = "/store/associated/order/exportview"
ORDER = "/store/associated/order"
MAX_WEBHOOKS = 20


@APPLICATIONS.kind("token-right")
def token_right(scene: Scene) -> list[bytes]:
    from applications.registration.services.keys import add_key
    from fulfillment.core.secrets import decrypt

    application = scene.world.application
    key = application.keys.first() or add_key(application=application)
    secret = decrypt(key.ciphertext)
    return [
        token_request(grant_type="client_credentials", client_id=application.client_id, client_secret=secret)
    ]


@APPLICATIONS.kind("webhook-storm")
def webhook_storm(scene: Scene) -> list[bytes]:
    """As many endpoints as allowed that never answer; each order is an event for all of them."""
    add_webhooks(scene, MAX_WEBHOOKS)
    return [api("POST", ORDER, scene.application, small_order())]


def add_webhooks(scene: Scene, count: int) -> None:
    for number in range(count):
        scene.call(
            "POST",
            f"/application/{scene.world.application.pk}/webhook",
            {"URL": scene.receiver.url(f"/hang/{number}")},
        )


def small_order(**changes: Any) -> dict[str, Any]:
    from tests.factories.orders import order_body

    return order_body(**changes)


@APPLICATIONS.kind("webhook-tests")
def webhook_tests(scene: Scene) -> list[bytes]:
    """Test events to an endpoint that sends its answer a byte at a time, and one that floods."""
    address = f"/application/{scene.world.application.pk}/webhook"
    made = [scene.call("POST", address, {"URL": scene.receiver.url(path)}) for path in ("/drip", "/flood")]
    return [api("POST", f"{address}/{each['ID']}/test", scene.application) for each in made]


@APPLICATIONS.kind("export-deep-pages")
def export_deep_pages(scene: Scene) -> list[bytes]:
    queries = [f"skip={scene.orders - 1000}&take=1000", f"skip={scene.orders // 2}&take=1000"]
    queries += [f"verbose=true&take=1000&skip={scene.orders - 2000}", f"productID=none&skip={scene.orders}"]
    queries.append("status=10&status=20&status=60&take=1000&createdAfter=2020-01-01T00:00:00Z")
    return [api("GET", f"{EXPORT}?{query}", scene.application) for query in queries]


@APPLICATIONS.kind("export-csv")
def export_csv(scene: Scene) -> list[bytes]:
    return [api("GET", f"{EXPORT}?format=csv", scene.application, Accept="text/csv")]


@APPLICATIONS.kind("export-csv-unread", pace="unread")
def export_csv_unread(scene: Scene) -> list[bytes]:
    """Asks for everything and takes nothing of it."""
    return [api("GET", f"{EXPORT}?format=csv&verbose=true", scene.application)]


@APPLICATIONS.kind("eddm-of-100-codes")
def eddm_of_100_codes(scene: Scene) -> list[bytes]:
    """In ever other orders, so that nothing is kept from before."""
    codes = [f"{84000 + number}" for number in range(CODES)]
    turned = [(codes[start:] + codes[:start])[:100] for start in range(CODES)]
    plain = [f"postalCodes={','.join(each)}" for each in turned]
    spread = ["&".join(f"postalCodes=%20{code}-1234" for code in each) for each in turned[:20]]
    return [api("GET", f"/delivery/eddm?{query}", scene.application) for query in plain + spread]


@APPLICATIONS.kind("event-pages")
def event_pages(scene: Scene) -> list[bytes]:
    address = f"/application/{scene.world.application.pk}/event"
    queries = ["take=1000", "take=500&type=order.*", "take=1&type=association.approved"]
    return [api("GET", f"{address}?{query}", scene.application) for query in queries]


@APPLICATIONS.kind("one-idempotency-key")
def one_idempotency_key(scene: Scene) -> list[bytes]:
    """All connections repeat one request that takes long, under one key, and then another under another."""
    from tests.factories.orders import card_data

    orders = [
        [
            {"ProductID": CARD, "Quantity": 100, "TemplateData": {**card_data(), "Name": f"{order}-{item}"}}
            for item in range(10)
        ]
        for order in range(40)
    ]
    return [
        api(
            "POST", ORDER, scene.application, small_order(Items=items), **{"Idempotency-Key": f"key-{number}"}
        )
        for number, items in enumerate(orders)
        for _ in range(8)
    ]


@APPLICATIONS.kind("new-idempotency-keys")
def new_idempotency_keys(scene: Scene) -> list[bytes]:
    """Kept answers of large requests."""
    metadata = {f"name{number}": "v" * 500 for number in range(20)}
    body = small_order(Metadata=metadata)
    return [api("POST", ORDER, scene.application, body, **{"Idempotency-Key": UNIQUE * 20})]


@APPLICATIONS.kind("same-external-id")
def same_external_id(scene: Scene) -> list[bytes]:
    """Orders that wait for one another and are refused."""
    return [api("POST", ORDER, scene.application, small_order(ExternalID="taken"))]


@APPLICATIONS.kind("product-lists")
def product_lists(scene: Scene) -> list[bytes]:
    paths = [
        "/store/demo/product?verbose=true",
        "/store/associated/product?verbose=true",
        "/store?verbose=true",
    ]
    return [api("GET", path, scene.application, **{"Accept-Encoding": "gzip"}) for path in paths]
