import pytest
import time_machine
from django.core.files.storage import default_storage
from django.test import Client

from stores.proofs.links import proof_urls
from stores.proofs.models import Proof
from stores.proofs.selectors import find_proof
from tests.factories.templates import make_card

NOON = "2026-05-04T12:00:00Z"


class FileClient(Client):
    """Reads every answer to its end, as a browser would."""

    def request(self, **request):
        response = super().request(**request)
        response.body = b"".join(response)
        response.close()
        return response


@pytest.fixture
def client():
    return FileClient()


def paths(record):
    return {name: record[name].removeprefix("http://127.0.0.1:8000") for name in ("Side1URL", "PdfURL")}


@pytest.fixture
def make(world):
    make_card(world.associated)
    client = world.as_application()

    def call():
        return paths(client.call("POST", "/store/associated/product/card/proof", {"Name": "Ada"}).json())

    return call


@pytest.fixture
def proof(make):
    return make()


@pytest.mark.parametrize(
    ("name", "media_type", "start", "file_name"),
    [
        ("PdfURL", "application/pdf", b"%PDF-", "card.pdf"),
        ("Side1URL", "image/png", b"\x89PNG", "card-page-1.png"),
    ],
)
def test_file_is_served_for_caches_and_nothing_else(client, proof, name, media_type, start, file_name):
    response = client.get(proof[name])

    assert response.status_code == 200
    content = response.body
    assert content.startswith(start)
    assert response["Content-Type"] == media_type
    assert response["Content-Length"] == str(len(content))
    assert response["Content-Disposition"] == f'inline; filename="{file_name}"'
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Security-Policy"].startswith("default-src 'none'; ")
    assert response["Cache-Control"].startswith("private, max-age=2")
    assert response["Cache-Control"].endswith(", immutable")
    assert "Vary" not in response
    assert "Set-Cookie" not in response


def test_png_is_sandboxed(client, proof):
    assert "sandbox" in client.get(proof["Side1URL"])["Content-Security-Policy"]


def test_file_is_served_without_any_query(client, proof, django_assert_num_queries):
    with django_assert_num_queries(0):
        client.get(proof["PdfURL"])


def test_head_and_known_version_carry_no_body(client, proof):
    head = client.head(proof["PdfURL"])
    whole = client.get(proof["PdfURL"])
    unchanged = client.get(proof["PdfURL"], headers={"If-None-Match": whole["ETag"]})

    assert (head.status_code, head.content, head["ETag"]) == (200, b"", whole["ETag"])
    assert head["Content-Length"] == str(len(whole.body))
    assert (unchanged.status_code, unchanged.content, unchanged["ETag"]) == (304, b"", whole["ETag"])


def test_other_methods_are_refused(client, proof):
    assert client.post(proof["PdfURL"]).status_code == 405


@pytest.mark.parametrize(
    ("requested", "start", "end"),
    [("bytes=0-99", 0, 100), ("bytes=100-", 100, None), ("bytes=-20", -20, None), ("bytes=5-5", 5, 6)],
)
def test_range_is_answered_in_part(client, proof, requested, start, end):
    whole = client.get(proof["PdfURL"]).body

    response = client.get(proof["PdfURL"], headers={"Range": requested})

    part = whole[start:end]
    first = start if start >= 0 else len(whole) + start
    assert (response.status_code, response.body) == (206, part)
    assert response["Content-Range"] == f"bytes {first}-{first + len(part) - 1}/{len(whole)}"
    assert response["Content-Length"] == str(len(part))


def test_range_beyond_the_end_is_416(client, proof):
    size = client.head(proof["PdfURL"])["Content-Length"]

    for requested in (f"bytes={size}-", "bytes=-0", f"bytes={size}-{size}9"):
        response = client.get(proof["PdfURL"], headers={"Range": requested})
        assert (response.status_code, response["Content-Range"]) == (416, f"bytes */{size}")


@pytest.mark.parametrize(
    "requested", ["bytes=", "bytes=-", "bytes=9-2", "bytes=0-1,4-5", "lines=1-2", "bytes=a-b"]
)
def test_range_not_understood_is_ignored(client, proof, requested):
    assert client.get(proof["PdfURL"], headers={"Range": requested}).status_code == 200


def test_range_of_another_version_is_ignored(client, proof):
    etag = client.head(proof["PdfURL"])["ETag"]

    headers = {"Range": "bytes=0-9"}
    assert client.get(proof["PdfURL"], headers={**headers, "If-Range": etag}).status_code == 206
    assert client.get(proof["PdfURL"], headers={**headers, "If-Range": '"other"'}).status_code == 200


def test_tampered_address_is_403(client, proof):
    _, kind, token, name = proof["PdfURL"].split("/")
    letters = [token[:at] + ("A" if token[at] != "A" else "B") + token[at + 1 :] for at in range(len(token))]
    tokens = [*letters, token + "=", token + "!", token + "A", token[:-1], "x", "A" * 52, "é"]
    other = [
        f"/{kind}/{token}/card-page-1.png",
        f"/{kind}/{token}/card-page-2.png",
        f"/{kind}/{token}/other.pdf",
        f"/assets/{token}/{name}",
        f"/{kind}/{token}/image.png",
    ]

    for path in [f"/{kind}/{changed}/{name}" for changed in tokens] + other:
        response = client.get(path)
        assert response.status_code == 403, path
        assert response["Content-Type"] == "text/plain; charset=utf-8"
        assert "immutable" not in response["Cache-Control"]


def test_nothing_can_be_listed(client, proof):
    _, kind, token, _ = proof["PdfURL"].split("/")

    for path in ("/proofs", "/proofs/", f"/{kind}/{token}", f"/{kind}/{token}/", "/assets/", "/media/"):
        assert client.get(path).status_code == 404


def test_address_is_valid_for_30_days_and_then_removed(client, make):
    with time_machine.travel(NOON, tick=False) as clock:
        path = make()["PdfURL"]
        stored = find_proof(Proof.objects.get().digest)
        clock.shift(30 * 86_400)
        last_day = client.get(path)
        clock.shift(86_400)
        expired = client.get(path)
        renewed = client.get(proof_urls(stored, "card").pdf)

    assert (last_day.status_code, renewed.status_code) == (200, 200)
    assert (expired.status_code, b"expired" in expired.body) == (410, True)


def test_address_stays_the_same_for_a_day(make):
    with time_machine.travel("2026-05-04T00:00:01Z", tick=False) as clock:
        first = make()
        clock.shift(86_397)
        later = make()
        clock.shift(2)
        next_day = make()

    assert first == later != next_day
    assert Proof.objects.count() == 1


def test_address_signed_with_an_older_key_is_still_good(client, proof, settings):
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another-key-of-at-least-32-letters!"
    assert client.get(proof["PdfURL"]).status_code == 200

    settings.SECRET_KEY_FALLBACKS = []
    assert client.get(proof["PdfURL"]).status_code == 403


def test_lost_file_is_404_and_storage_failure_503(client, proof, stored_files, monkeypatch):
    for name in stored_files():
        default_storage.delete(name)
    assert client.get(proof["PdfURL"]).status_code == 404

    def fail(*args):
        raise ConnectionError("the storage is away")

    monkeypatch.setattr(default_storage._wrapped, "open", fail)
    response = client.get(proof["PdfURL"])
    assert (response.status_code, response["Retry-After"]) == (503, "5")
