"""What is measured. A later row is one more entry here, an answer in `limit` and one in `peer.urls`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import orjson

from tests.benchmarks.delivery import standard_codes
from tests.benchmarks.load import JSON, Sent

EDDM = "/api/v1/delivery/eddm?" + "&".join(f"postalCodes={code}" for code in standard_codes()[:10_000:100])
# Refresh tokens of one round: more than there are connections.
POOL = 16
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@dataclass(frozen=True, eq=False)
class Row:
    """`marks` are the least ratios of our rate to those of other servers; 0 where there is none to reach.

    `sends` names a body of the facts, or a grant; a row without one is a read.
    """

    title: str
    path: str
    marks: Mapping[str, float]
    sends: str = ""
    conditional: bool = False

    @property
    def servers(self) -> tuple[str, ...]:
        return ("ours", *self.marks)

    @property
    def is_read(self) -> bool:
        return not self.sends


ROWS = [
    Row("GET /store/{id}", "/api/v1/store/bench", {"limit": 0.55, "peer": 3}),
    Row(
        "GET /store/{id}/product, 100 products",
        "/api/v1/store/bench/product",
        {"limit": 0.6, "peer": 20},
    ),
    Row(
        "the same with If-None-Match",
        "/api/v1/store/bench/product",
        {"limit": 0.55, "peer": 30},
        conditional=True,
    ),
    Row("GET /delivery/eddm, 100 codes", EDDM, {"limit": 0.8, "peer": 8}),
    Row(
        "GET export view, take 100",
        "/api/v1/store/bench/order/exportview?take=100",
        {"limit": 0.6, "peer": 8},
    ),
    Row(
        "POST order, no template", "/api/v1/store/workshop/order", {"limit": 0.6, "peer": 1.5}, sends="order"
    ),
    Row("POST proof, known", "/api/v1/store/workshop/product/card/proof", {"limit": 0.6}, sends="proof"),
    Row("POST /oauth/token, client_credentials", "/oauth/token", {"peer": 20}, sends="client_credentials"),
    Row("POST /oauth/token, refresh_token", "/oauth/token", {"peer": 10}, sends="refresh_token"),
]


def sent(row: Row, facts: Mapping[str, Any], server: str, *, etag: str = "", turn: int = 0) -> Sent:
    if row.sends in facts["bodies"]:
        # The peer locks in its own way, so it has a store of its own.
        path = row.path.replace("/workshop/", "/peer/") if server == "peer" else row.path
        return Sent(path, {**facts["headers"], **JSON}, orjson.dumps(facts["bodies"][row.sends]))
    if row.sends == "client_credentials":
        return Sent(row.path, FORM, urlencode(_client(facts) | {"grant_type": row.sends}).encode())
    if row.sends == "refresh_token":
        return Sent(
            row.path,
            FORM,
            form=urlencode(_client(facts) | {"grant_type": row.sends}),
            pool=tuple(facts["refresh"][server][turn * POOL : (turn + 1) * POOL]),
        )
    return Sent(row.path, {**facts["headers"], **({"If-None-Match": etag} if etag else {})})


def _client(facts: Mapping[str, Any]) -> dict[str, str]:
    # Without a scope the toolkit grants all it knows, and knows others than we do.
    return {"client_id": facts["client"]["id"], "client_secret": facts["client"]["secret"]}
