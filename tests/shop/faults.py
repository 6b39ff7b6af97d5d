"""Orders under faults: cut and repeated calls, lost and shuffled webhooks, and each side killed."""

import contextlib
import random
import time
from collections import Counter

import requests

from tests.shop.processes import wait_until
from tests.shop.scene import NO_FAULTS, Scene
from tests.shop.shop import Refused

# One in ten, of every kind.
FAULTS = {
    "passes": 90,
    "is cut before": 2,
    "is cut after": 3,
    "is cut within the answer": 1,
    "is late": 1,
    "is 503 after": 2,
    "is 502 after": 1,
}
ENOUGH = 900


def check_faults(scene: Scene, count: int) -> None:
    """Nothing is lost and nothing doubled, whatever happens between a buyer and the press."""
    chance, bought = random.Random(count), []
    kills = {count * part // 8: part for part in range(1, 7)}
    scene.to_service.fates_of = scene.to_shop.fates_of = FAULTS
    with scene.service.accepting():
        for number in range(count):
            bought.append(buy(scene))
            if number in kills:
                kill(scene, ("shop", "service")[kills[number] % 2], chance)
        scene.to_service.fates_of = scene.to_shop.fates_of = NO_FAULTS
        wait_until(lambda: has_ended(scene, bought), "every order is shipped", ENOUGH)
    compare(scene, bought)


def buy(scene: Scene) -> str:
    """A buyer whose page fails tries again, with a new cart: what was ordered is what the shop says."""
    while True:
        with contextlib.suppress(Refused, requests.RequestException):
            order = scene.shop.check_out(scene.shop.cart())
            break
        time.sleep(0.5)
    while True:
        with contextlib.suppress(Refused, requests.RequestException):
            scene.shop.capture(order["id"])
        with contextlib.suppress(Refused, requests.RequestException):
            if is_paid(scene, order["id"]):
                return order["id"]
        time.sleep(0.5)


def is_paid(scene: Scene, order_id: str) -> bool:
    order = scene.shop.get(f"/admin/orders/{order_id}?fields=payment_collections.status")["order"]
    return all(one["status"] == "completed" for one in order["payment_collections"])


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
    shipped = [one for one in bought if scene.shop.order(one)["fulfillment_status"] == "shipped"]
    return len(shipped) == len(bought)


def compare(scene: Scene, bought: list[str]) -> None:
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
    fates = scene.to_service.fates + scene.to_shop.fates
    print(f"    {len(bought)} orders, 0 lost, 0 doubled, 0 blank; {dict(fates)}", flush=True)


def order_of(row: dict) -> str:
    return row["ExternalID"].rsplit("-", 1)[0]
