"""The live proof of the start page: what the API would make, within limits that cost no caller anything."""

import ast
import json
import re
import shlex
import threading
from io import BytesIO

import pytest
from PIL import Image, ImageChops, ImageStat

from stores.concurrency_limits import RENDERINGS
from stores.proofs.models import Proof
from stores.proofs.services import live_proofs
from tests.factories.orders import make_card
from tests.support.patience import PATIENCE
from tests.support.scenario import ApiClient


@pytest.fixture
def card(world):
    return make_card(world.demo, "business-card")


def test_signed_out_visitor_sees_the_name_on_the_card_and_nothing_is_stored(card, client):
    first, same, other = (
        client.get("/live-proof.png", {"name": name}) for name in ("Ada", "Ada", "Grace Hopper")
    )

    assert {response["Content-Type"] for response in (first, same, other)} == {"image/png"}
    assert first.content == same.content != other.content
    assert client.get("/live-proof.png?name=Ada", headers={"If-None-Match": first["ETag"]}).status_code == 304
    assert not Proof.objects.exists()


def test_picture_is_small_and_looks_the_same(card, client, monkeypatch):
    small = client.get("/live-proof.png", {"name": "Ada"}).content
    monkeypatch.setattr(live_proofs, "reduce_colors", lambda png: png)
    live_proofs._kept.clear()
    whole = client.get("/live-proof.png", {"name": "Ada"}).content

    difference = ImageChops.difference(
        *(Image.open(BytesIO(content)).convert("RGB") for content in (small, whole))
    )
    assert len(small) < len(whole) / 2
    assert ImageStat.Stat(difference).mean < [1.5] * 3


def test_shown_request_is_one_the_api_answers(card, client, world):
    code = client.get("/live-proof", {"name": 'Seán O\'Hara "Jr"'}).json()["Code"]
    words = shlex.split(code["curl"].replace("\\\n", " "))
    address, body = words[1], json.loads(words[words.index("-d") + 1])
    caller: ApiClient = world.as_user(world.outsider)

    response = caller.call("POST", address.partition("/api/v1")[2], body)

    assert response.status_code == 200, response.content
    assert body["Name"] == 'Seán O\'Hara "Jr"'
    python = re.search(r"body = (\{.*?\n\})", code["python"], re.DOTALL)
    assert ast.literal_eval(python[1]) == body
    assert json.dumps(body["Name"], ensure_ascii=False) in code["javascript"]


@pytest.mark.parametrize(
    ("name", "said"),
    [("x" * 61, "at most 60"), ("W" * 60, "does not fit"), ("a\u2028b", "control character")],
)
def test_unprintable_name_is_explained(card, client, name, said):
    response = client.get("/live-proof", {"name": name})

    assert response.status_code == 400
    assert said in response.json()["Message"]


def test_address_has_a_limit_and_cached_answers_are_not_counted(card, client, settings):
    settings.LIVE_PROOFS_PER_MINUTE = 2

    statuses = [client.get("/live-proof", {"name": name}).status_code for name in ("A", "B", "A", "C")]
    refused = client.get("/live-proof", {"name": "D"})

    assert statuses == [200, 200, 200, 429]
    assert int(refused["Retry-After"]) > 0
    assert client.get("/live-proof?name=E", REMOTE_ADDR="203.0.113.9").status_code == 200


def test_anonymous_requests_share_one_renderer(card, client, monkeypatch, settings):
    settings.RENDERINGS_CONCURRENCY = 3
    monkeypatch.setattr(live_proofs, "WAIT_SECONDS", 0.2)
    held, go_on = threading.Event(), threading.Event()

    def draw_for_long() -> None:
        with live_proofs.LIVE_PROOFS.slot(live_proofs.VISITORS):
            held.set()
            go_on.wait(PATIENCE)

    other = threading.Thread(target=draw_for_long)
    other.start()
    assert held.wait(PATIENCE)
    refused = client.get("/live-proof", {"name": "Late"})
    with RENDERINGS.slot("user:1", wait=0.2), RENDERINGS.slot("user:2", wait=0.2):
        go_on.set()
    other.join()

    assert (refused.status_code, refused["Retry-After"]) in {(429, "2"), (503, "2")}


def test_without_a_demo_store_the_page_shows_itself_without_a_proof(world, client):
    page = client.get("/").content.decode()

    assert "Every print shop behind one API" in page
    assert "live-proof" not in page
    assert client.get("/live-proof.png").status_code == 404
    assert client.get("/live-proof").status_code == 404
