"""Clients that write without a pause and ask again when they were not answered; and whether what is left is whole."""

import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import requests

from tests.benchmarks.soak.scene import Caller, form, new_party, rows
from tests.support.patience import PATIENCE

# What is wrong when any of these finds a row: an order in halves, or one that was made twice.
HALVES = {
    "a key made two orders": """
        SELECT metadata->>'Soak' FROM stores_order GROUP BY 1 HAVING count(*) > 1""",
    "an order without its items": """
        SELECT o.number FROM stores_order o WHERE o.item_count <>
            (SELECT count(*) FROM stores_orderitem i WHERE i.order_id = o.id)""",
    "a history with a gap": """
        SELECT o.number FROM stores_order o WHERE o.sequence <>
            (SELECT count(*) FROM stores_orderhistory h WHERE h.order_id = o.id)
            OR o.sequence <> (SELECT max(sequence) FROM stores_orderhistory h WHERE h.order_id = o.id)""",
    "a change without its one event": """
        SELECT o.number FROM stores_order o WHERE o.sequence <>
            (SELECT count(DISTINCT e.data->>'Sequence') FROM applications_event e
             WHERE e.data->>'OrderID' = o.id::text)
            OR o.sequence <> (SELECT count(*) FROM applications_event e WHERE e.data->>'OrderID' = o.id::text)""",
    "an event without its one delivery": """
        SELECT e.id FROM applications_event e WHERE 1 <>
            (SELECT count(*) FROM applications_delivery d WHERE d.event_id = e.id)""",
    "a gap in the positions": """
        SELECT store_id FROM stores_order GROUP BY 1 HAVING max(position) <> count(*)""",
    "a wrong tally": """
        SELECT store_id, status FROM stores_ordertally GROUP BY 1, 2 HAVING sum(orders) <>
            (SELECT count(*) FROM stores_order o WHERE o.store_id = stores_ordertally.store_id
             AND o.status = stores_ordertally.status)""",
    "two tokens alive in a family": """
        SELECT token_family FROM oauth2_provider_refreshtoken WHERE revoked IS NULL
        GROUP BY 1 HAVING count(*) > 1""",
    "a living refresh token without its access token": """
        SELECT r.id FROM oauth2_provider_refreshtoken r WHERE revoked IS NULL AND access_token_id IS NULL""",
    "an application without its one key": """
        SELECT a.id FROM applications_application a WHERE 1 <>
            (SELECT count(*) FROM applications_applicationkey k WHERE k.application_id = a.id)""",
}


@dataclass
class Seen:
    """The answers that clients got: `orders` maps a key to the OrderID of its 201."""

    orders: dict[str, str] = field(default_factory=dict)
    sent: set[str] = field(default_factory=set)
    statuses: Counter[int] = field(default_factory=Counter)
    unanswered: int = 0
    done: Counter[str] = field(default_factory=Counter)
    odd: list[str] = field(default_factory=list)

    @property
    def summary(self) -> str:
        return (
            f"{self.done['orders']} orders, {self.done['keys']} keys and {self.done['tokens']} refresh tokens written, "
            f"statuses {dict(sorted(self.statuses.items()))}"
        )


class Writer(threading.Thread):
    """Orders and moves them, renews a key and a refresh token of its own, in turn until stopped."""

    def __init__(self, world: Any, url: str, seen: Seen) -> None:
        super().__init__(daemon=True)
        from tests.factories.accounts import UserFactory

        self.party, self.user, self.url, self.seen = new_party(), UserFactory(), url, seen
        self.owner = Caller(url, world.as_operator())
        self.buyer, self.staff = Caller(url, world.as_application()), Caller(url, world.as_user(world.user))
        self.refresh = ""
        self.stopped = threading.Event()

    def run(self) -> None:
        from django.db import connection

        try:
            while not self.stopped.is_set():
                self._order()
                self._regenerate()
                self._refresh()
        except Exception as error:  # noqa: BLE001 - any failure of a client is a finding
            self.seen.odd.append(f"a client ended of {error!r}")
        finally:
            connection.close()

    def _ask(self, request: Any) -> requests.Response | None:
        """None when there was no answer, or none but that the service cannot just now."""
        try:
            response: requests.Response = request()
        except requests.RequestException:
            self.seen.unanswered += 1
            time.sleep(0.05)
            return None
        self.seen.statuses[response.status_code] += 1
        if response.status_code == 503:
            time.sleep(0.02)
            return None
        if response.status_code >= 500 or response.status_code == 401:
            self.seen.odd.append(f"{response.status_code} {response.url} {response.text[:200]}")
            return None
        return response

    def _order(self) -> None:
        from tests.factories.orders import order_body

        key = str(uuid4())
        self.seen.sent.add(key)
        body, header = order_body(Metadata={"Soak": key}), {"Idempotency-Key": key}
        response = self._until(
            lambda: self.buyer.call("POST", "/store/associated/order", body, **header), {201}, {409}
        )
        if response is None:
            return
        order_id = self.seen.orders[key] = response.json()["OrderID"]
        path = f"/store/associated/order/{order_id}/status"
        # Said again after a lost answer, the same move is refused or changes nothing.
        self._until(lambda: self.staff.call("POST", path, {"Status": 30}), {200, 409}, set())
        self.seen.done["orders"] += 1

    def _until(self, request: Any, good: set[int], again: set[int]) -> requests.Response | None:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            response = self._ask(request)
            if response is not None and response.status_code in good:
                return response
            if response is not None and response.status_code not in again:
                self.seen.odd.append(f"{response.status_code} {response.url} {response.text[:200]}")
                return None
            time.sleep(0.05)
        self.seen.odd.append("a request that was never answered")
        return None

    def _regenerate(self) -> None:
        application = self.party.application
        keys = [key.pk for key in application.keys.all()]
        if len(keys) != 1:
            self.seen.odd.append(f"{len(keys)} keys after a regeneration")
            return
        path = f"/application/{application.pk}/key/{keys[0]}/regenerate"
        response = self._ask(lambda: self.owner.call("PATCH", path))
        if response is not None:
            self.seen.done["keys"] += response.status_code == 200

    def _refresh(self) -> None:
        """After a lost answer the client signs in anew, as it must."""
        from fulfillment.core.secrets import decrypt

        self.party.secret = decrypt(self.party.application.keys.get().ciphertext)
        if not self.refresh:
            self.refresh = self.party.sign_in(self.user)["refresh_token"]
        token, self.refresh = self.refresh, ""
        response = self._ask(
            lambda: form(self.url, self.party, grant_type="refresh_token", refresh_token=token)
        )
        if response is not None and response.status_code == 200:
            self.refresh = response.json()["refresh_token"]
            self.seen.done["tokens"] += 1


def finish(writers: list[Writer]) -> None:
    for writer in writers:
        writer.stopped.set()
    for writer in writers:
        writer.join(timeout=2 * PATIENCE)


def wrongs(seen: Seen) -> list[str]:
    """What is lost, doubled or half, in words; each with how often."""
    lines = [f"{name} ({len(bad)} x)" for name, statement in HALVES.items() if (bad := rows(statement))]
    kept = dict(rows("SELECT metadata->>'Soak', id::text FROM stores_order"))
    if lost := [key for key, order_id in seen.orders.items() if kept.get(key) != order_id]:
        lines.append(f"an order that was answered is lost ({len(lost)} x)")
    if strange := set(kept) - seen.sent:
        lines.append(f"an order that no client sent ({len(strange)} x)")
    return [*lines, *seen.odd]
