"""Orders under faults: cut and repeated calls, lost and shuffled webhooks, and each side killed."""

import contextlib
import math
import os
import random
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import requests

from tests.shop.processes import wait_until
from tests.shop.scene import NO_FAULTS, Scene
from tests.shop.shop import Refused

# One call of ten meets one of these on the way from the shop.
TO_SERVICE = {
    "passes": 90,
    "is cut before": 2,
    "is cut after": 3,
    "is cut within the answer": 1,
    "is late": 1,
    "is 503 after": 2,
    "is 502 after": 1,
}
# And these on the way back, where the calls are webhooks.
TO_SHOP = {
    "passes": 90,
    "is cut after": 2,
    "is 503 after": 2,
    "is lost": 2,
    "is overtaken": 2,
    "is repeated": 2,
}
KILLS_OF_EACH = 3
BUYERS = 4
ENOUGH = 900


def check_faults(scene: Scene, count: int) -> None:
    """Nothing is lost and nothing doubled, whatever happens between a buyer and the press."""
    chance, bought = random.Random(count), {}
    kills = {max(1, count * part // 8): part for part in range(1, 2 * KILLS_OF_EACH + 1)}
    set_fates(scene, TO_SERVICE, TO_SHOP)
    with scene.service.accepting(), ThreadPoolExecutor(BUYERS) as buyers:
        for number, (order_id, paid) in enumerate(buyers.map(lambda _: buy(scene), range(count))):
            bought[order_id] = paid
            if number in kills:
                kill(scene, ("shop", "service")[kills[number] % 2], chance)
        fates = [Counter(proxy.fates) for proxy in (scene.to_service, scene.to_shop)]
        set_fates(scene, NO_FAULTS, NO_FAULTS)
        wait_until(lambda: has_ended(scene, list(bought)), "every order is shipped", ENOUGH)
    compare(scene, bought)
    print(
        f"    to the service {dict(fates[0])}, to the shop {dict(fates[1])}, {len(kills)} kills", flush=True
    )


def check_time(scene: Scene, count: int) -> None:
    """How long a paid order takes to the store, without faults."""
    bought = dict(buy(scene) for _ in range(count))
    wait_until(
        lambda: {order_of(row) for row in scene.service.orders()} >= bought.keys(), "all are here", 120
    )
    print_times(scene.service.orders(), bought)


def set_fates(scene: Scene, to_service: Mapping[str, int], to_shop: Mapping[str, int]) -> None:
    for proxy, fates in ((scene.to_service, to_service), (scene.to_shop, to_shop)):
        proxy.fates_of = fates
        proxy.fates.clear()


def buy(scene: Scene) -> tuple[str, float]:
    """The order and when it was paid. A buyer whose page fails tries again, with a new cart."""
    while True:
        with contextlib.suppress(Refused, requests.RequestException):
            order = scene.shop.check_out(scene.shop.cart())
            break
        time.sleep(0.5)
    while True:
        asked = time.time()
        with contextlib.suppress(Refused, requests.RequestException):
            scene.shop.capture(order["id"])
        with contextlib.suppress(Refused, requests.RequestException):
            if is_paid(scene, order["id"]):
                return order["id"], asked
        time.sleep(0.5)


def is_paid(scene: Scene, order_id: str) -> bool:
    """Whether the money was taken: a kill leaves Medusa's own status of the payment behind."""
    fields = "payment_collections.amount,payment_collections.payments.captures.amount"
    order = scene.shop.get(f"/admin/orders/{order_id}?fields={fields}")["order"]
    return all(
        sum(capture["amount"] for payment in one["payments"] for capture in payment["captures"])
        >= one["amount"]
        for one in order["payment_collections"]
    )


def kill(scene: Scene, side: str, chance: random.Random) -> None:
    time.sleep(chance.uniform(0, 0.3))
    processes = [scene.shop.process] if side == "shop" else [scene.service.web, scene.service.worker]
    for process in processes:
        process.kill()
    for process in processes:
        process.start()


def has_ended(scene: Scene, bought: list[str]) -> bool:
    scene.shop.look()
    time.sleep(2)
    return all(scene.shop.order(one)["fulfillment_status"] == "shipped" for one in bought)


def compare(scene: Scene, bought: Mapping[str, float]) -> None:
    """Of each shop order one order of the store, with what the buyer typed."""
    at_store = [row for row in scene.service.orders(verbose="true") if order_of(row) in bought]
    times = Counter(order_of(row) for row in at_store)
    assert set(times) == set(bought), f"lost: {set(bought) - set(times)}"
    assert set(times.values()) == {1}, f"doubled: {[one for one in times if times[one] > 1]}"
    blank = [row for row in at_store if any(not item["TemplateData"]["Name"] for item in row["Items"])]
    assert not blank, f"blank: {blank}"
    done = {job.name.rsplit("-", 1)[0] for job in (scene.service.hot_folder.parent / "done").iterdir()}
    unprinted = [row["OrderNumber"] for row in at_store if f"{row['OrderNumber']}-1" not in done]
    assert not unprinted, f"not at the press: {unprinted}"
    print(f"    {len(bought)} orders, 0 lost, 0 doubled, 0 blank", flush=True)
    print_times(at_store, bought)


def print_times(at_store: list[dict], bought: Mapping[str, float]) -> None:
    """From the request that captures the payment to the order at the store, with the machine's load."""
    took = sorted(
        datetime.fromisoformat(row["Created"]).timestamp() - bought[order_of(row)]
        for row in at_store
        if order_of(row) in bought
    )
    middle, late = took[len(took) // 2], took[max(0, math.ceil(len(took) * 0.95) - 1)]
    text = f"paid to order: p50 {middle:.1f} s, p95 {late:.1f} s, longest {took[-1]:.1f} s"
    print(f"    {text} ({len(took)} orders, load {os.getloadavg()[0]:.0f})", flush=True)


def order_of(row: dict) -> str:
    return row["ExternalID"].rsplit("-", 1)[0]
