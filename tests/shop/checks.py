"""What a shop and its admin are promised, each shown once."""

import contextlib
import time
from collections.abc import Iterator

import requests

from tests.clients.bad_proxy import LATE_ANSWER
from tests.shop.faults import set_fates
from tests.shop.processes import wait_until
from tests.shop.scene import NO_FAULTS, Scene
from tests.shop.service import ACCEPTED, STORE
from tests.shop.shop import CARD, Refused, Shop
from tests.support.printing.document_making import document

IN_PRODUCTION, RETURNED, REJECTED = 40, 80, 95


def placed(scene: Scene, order_id: str) -> dict:
    """The print order of a shop order, once it is at the store."""
    wait_until(lambda: states(scene, order_id) == ["placed"], f"{order_id} is placed", 60)
    return scene.shop.prints(order_id)[0]


def states(scene: Scene, order_id: str) -> list[str]:
    return [one["state"] for one in scene.shop.prints(order_id)]


def shipped(shop: Shop, order_id: str) -> None:
    wait_until(
        lambda: shop.order(order_id)["fulfillment_status"] == "shipped",
        f"the shop says shipped of {order_id}",
        120,
    )


def held(scene: Scene, order_id: str, words: str) -> None:
    wait_until(lambda: states(scene, order_id) == ["held"], f"{order_id} is held", 60)
    [row] = scene.shop.prints(order_id)
    assert words in row["problem"], row["problem"]
    waiting = {one["order_id"] for one in scene.shop.get("/admin/print")["orders"]}
    assert order_id in waiting, "the settings page does not show it"


@contextlib.contextmanager
def refused(words: str) -> Iterator[None]:
    """The shop refuses, and says so in words that its admin or buyer sees."""
    try:
        yield
    except Refused as refusal:
        if words not in str(refusal):
            raise
    else:
        raise AssertionError(f"it was not refused: {words}")


def check_buyer_sees_a_proof(scene: Scene) -> None:
    shop, variant = scene.shop, scene.shop.known["variant"]
    fields = shop.get(f"/store/print/variants/{variant}")["fields"]
    assert {"Name", "Email"} <= {field["FieldName"] for field in fields}
    proof = shop.post("/store/print/proof", {"variant_id": variant, "fields": CARD})
    assert requests.get(proof["pages"][0], timeout=60).headers["Content-Type"] == "image/png"
    with refused("Name is required"):
        shop.post("/store/print/proof", {"variant_id": variant, "fields": {"Name": ""}})


def check_buyer_changes_no_value_of_the_mapping(scene: Scene) -> None:
    shop, variant = scene.shop, scene.shop.product("Card of the office")
    shop.map(variant, Email="office@example.com")
    asked = shop.get(f"/store/print/variants/{variant}")["fields"]
    typed = {"variant_id": variant, "fields": {"Name": CARD["Name"]}}
    fixed = shop.post("/store/print/proof", typed)
    changed = shop.post("/store/print/proof", {**typed, "fields": CARD})
    assert "Email" not in {field["FieldName"] for field in asked}
    assert changed["pages"] == fixed["pages"], "the buyer's value took the place of the shop's"


def check_paid_order_is_printed_and_shipped(scene: Scene) -> None:
    shop, service = scene.shop, scene.service
    order = shop.check_out(shop.cart())
    time.sleep(1)
    assert shop.prints(order["id"]) == [], "it was sent before it was paid"
    shop.capture(order["id"])
    row = placed(scene, order["id"])
    assert float(row["total"]) == float(order["shipping_total"]), "billed is not what was shown"
    with service.accepting():
        shipped(shop, order["id"])
    jobs = list((service.hot_folder.parent / "done").iterdir())
    assert [job for job in jobs if job.name.startswith(f"{row['print_order_number']}-1")], jobs
    [fulfillment] = shop.order(order["id"])["fulfillments"]
    assert [label["tracking_number"] for label in fulfillment["labels"]], "no tracking number"
    slip = f"{shop.url}/admin/print/orders/{row['id']}/packing-slip"
    found = requests.get(slip, headers={"Authorization": f"Bearer {shop.token}"}, timeout=60)
    assert found.content.startswith(b"%PDF"), found.text


def check_returned_parcel_is_a_return(scene: Scene) -> None:
    shop, service = scene.shop, scene.service
    order_id = shop.buy()
    row = placed(scene, order_id)
    with service.accepting():
        shipped(shop, order_id)
    service.set_status(row["print_order_id"], RETURNED)

    def found() -> list[dict]:
        return shop.get(f"/admin/returns?order_id={order_id}&fields=status,*items")["returns"]

    wait_until(found, "the shop has a return", 60)
    shop.look()
    [one] = found()
    assert (one["status"], len(one["items"])) == ("requested", 1), one
    assert shop.prints(order_id)[0]["status_name"] == "Returned"


def check_uploaded_pdf_is_printed(scene: Scene) -> None:
    shop, variant = scene.shop, scene.shop.known["variant"]
    upload = f"/store/print/artwork?variant_id={variant}"
    with refused("PDF"):
        shop.call("POST", upload, b"no PDF at all")
    artwork = shop.call("POST", upload, document(pages=2))["artwork"]
    proof = shop.post("/store/print/proof", {"variant_id": variant, "artwork": artwork})
    assert requests.get(proof["pages"][0], timeout=60).headers["Content-Type"] == "image/png"
    row = placed(scene, shop.buy(artwork=artwork))
    [item] = scene.service.call("GET", f"/store/{STORE}/order/{row['print_order_id']}")["Items"]
    assert item["Artwork"]["AssetID"] == artwork["AssetID"], item
    [shown] = shop.get(f"/admin/print/orders/{row['id']}/proofs")["proofs"]
    assert shown["pages"], shown
    without_bleed = shop.call("POST", upload, document(pages=2, bleed=0))["artwork"]
    held(scene, shop.buy(artwork=without_bleed), "bleed")


def check_line_without_product_is_held(scene: Scene) -> None:
    shop = scene.shop
    variant = shop.product("Square cards")
    with refused("has no print product"):
        shop.buy(shop.known["variant"], variant)
    # Mapped when it was bought, and no more when it was paid.
    shop.map(variant)
    order = shop.check_out(shop.cart(shop.known["variant"], variant))
    shop.call("DELETE", f"/admin/print/variants/{variant}")
    shop.capture(order["id"])
    held(scene, order["id"], '"Square cards" has no print product')
    shop.map(variant)
    assert placed(scene, order["id"])["print_order_id"]


def check_empty_card_is_held(scene: Scene) -> None:
    order_id = scene.shop.buy(card={"Name": "", "Email": "ada@example.com"})
    held(scene, order_id, "Business cards: Name is required.")


def check_unsigned_webhook_is_refused(scene: Scene) -> None:
    response = requests.post(f"{scene.shop.url}/hooks/print", json={"Type": "order.shipped"}, timeout=30)
    assert response.status_code == 401, response.text


def check_other_currency_is_refused_in_the_cart(scene: Scene) -> None:
    shop = scene.shop
    region = shop.region("eur", "ca")
    with refused("bills in USD"):
        shop.buy(region=region, country="ca")


def check_cancelled_before_production(scene: Scene) -> None:
    shop = scene.shop
    order_id = shop.buy()
    row = placed(scene, order_id)
    [fulfillment] = shop.order(order_id)["fulfillments"]
    shop.post(f"/admin/orders/{order_id}/fulfillments/{fulfillment['id']}/cancel")
    assert states(scene, order_id) == ["ended"]
    shop.post(f"/admin/orders/{order_id}/cancel")
    [found] = scene.service.orders(externalID=row["external_id"])
    assert found["StatusName"] == "Cancelled"
    shop.look()
    assert states(scene, order_id) == ["ended"], "it was ordered again"


def check_cancelled_in_production(scene: Scene) -> None:
    """The store decides: the shop says so, and follows."""
    shop, service = scene.shop, scene.service
    order_id = shop.buy()
    row = placed(scene, order_id)
    service.set_status(row["print_order_id"], 20)
    service.set_status(row["print_order_id"], ACCEPTED)
    service.set_status(row["print_order_id"], IN_PRODUCTION)
    [fulfillment] = shop.order(order_id)["fulfillments"]
    with refused("was asked to cancel"):
        shop.post(f"/admin/orders/{order_id}/fulfillments/{fulfillment['id']}/cancel")
    [row] = shop.prints(order_id)
    assert row["cancellation"] == "Requested", row
    service.set_status(row["print_order_id"], 90)
    wait_until(lambda: shop.order(order_id)["fulfillments"][0]["canceled_at"], "the shop follows", 60)


def check_cancellation_outlasts_an_older_answer(scene: Scene) -> None:
    """What the store said before the shop asked to cancel may arrive afterwards."""
    shop, service = scene.shop, scene.service
    order_id = shop.buy()
    row = placed(scene, order_id)
    [fulfillment] = shop.order(order_id)["fulfillments"]
    for status in (20, ACCEPTED):
        service.set_status(row["print_order_id"], status)
    wait_until(lambda: shop.prints(order_id)[0]["status"] == ACCEPTED, "the shop follows", 60)
    set_fates(scene, {"is answered late": 1}, NO_FAULTS)
    service.set_status(row["print_order_id"], IN_PRODUCTION)
    wait_until(lambda: scene.to_service.fates["is answered late"], "the shop asks", 60)
    # Nor does a webhook set it right.
    set_fates(scene, NO_FAULTS, {"is lost": 1})
    with refused("was asked to cancel"):
        shop.post(f"/admin/orders/{order_id}/fulfillments/{fulfillment['id']}/cancel")
    time.sleep(LATE_ANSWER + 1)
    set_fates(scene, NO_FAULTS, NO_FAULTS)
    [row] = shop.prints(order_id)
    assert row["cancellation"] == "Requested", row


def check_rejected_by_the_store(scene: Scene) -> None:
    shop = scene.shop
    order_id = shop.buy()
    row = placed(scene, order_id)
    scene.service.set_status(row["print_order_id"], REJECTED, Note="The picture is too small.")
    wait_until(lambda: states(scene, order_id) == ["ended"], "the shop follows", 60)
    [row] = shop.prints(order_id)
    assert "The picture is too small." in row["problem"], row["problem"]
    shop.post(f"/admin/print/orders/{order_id}/retry")
    assert states(scene, order_id) == ["ended", "placed"], "it could not be ordered again"


def check_edited_order_is_printed_once_more(scene: Scene) -> None:
    """What was added is a print order of its own, and what is at the press cannot be taken away."""
    shop = scene.shop
    order_id = shop.buy()
    placed(scene, order_id)
    added = {
        "variant_id": shop.known["variant"],
        "quantity": 1,
        "unit_price": 20,
        "metadata": {"print": CARD},
    }
    shop.edit(order_id, "", {"items": [added]})
    wait_until(lambda: states(scene, order_id) == ["placed", "placed"], "what was added is placed", 60)
    line = shop.get(f"/admin/orders/{order_id}?fields=*items")["order"]["items"][0]
    with refused("fulfilled"):
        shop.edit(order_id, f"/item/{line['id']}", {"quantity": 0})


def check_two_shops_on_one_store(scene: Scene) -> None:
    """They share the application: each hears of the orders of both, and follows its own."""
    first = scene.shop.buy()
    with scene.another() as other:
        second = other.buy()
        wait_until(lambda: [one["state"] for one in other.prints(second)] == ["placed"], "it is placed", 60)
        placed(scene, first)
        with scene.service.accepting():
            shipped(scene.shop, first)
            shipped(other, second)
        assert other.prints(first) == scene.shop.prints(second) == []
        for shop in (scene.shop, other):
            problems = {one["problem"] for one in shop.get("/admin/print")["contacts"]}
            assert problems == {None}, problems


def check_split_fulfillments_are_two_orders(scene: Scene) -> None:
    shop = scene.shop
    order = shop.check_out(shop.cart(shop.known["variant"], shop.known["variant"]))
    lines = shop.get(f"/admin/orders/{order['id']}?fields=*items")["order"]["items"]
    for line in lines:
        for _ in range(line["quantity"]):
            body = {"items": [{"id": line["id"], "quantity": 1}], "shipping_option_id": shop.known["option"]}
            shop.post(f"/admin/orders/{order['id']}/fulfillments", body)
    rows = shop.prints(order["id"])
    assert [row["state"] for row in rows] == ["placed", "placed"], rows
    assert len({row["print_order_id"] for row in rows}) == 2


def check_withdrawn_product_is_printed_as_quoted(scene: Scene) -> None:
    """A quote binds the store; who has none cannot buy any more."""
    shop = scene.shop
    variant = shop.product("Silk cards")
    shop.map(variant, "business-card-silk")
    order = shop.check_out(shop.cart(variant, card={}))
    scene.service.withdraw("business-card-silk")
    shop.capture(order["id"])
    assert placed(scene, order["id"])["total"]
    late = shop.cart(variant, variant, card={})
    with refused("business-card-silk"):
        shop.check_out(late)


CHECKS = [value for name, value in list(globals().items()) if name.startswith("check_")]
