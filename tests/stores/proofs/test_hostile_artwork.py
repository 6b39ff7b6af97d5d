"""PDFs that mean harm, over the API: refused with a sentence or taken, never an error of the service."""

from decimal import Decimal

import pytest

from tests.factories.orders import make_product
from tests.support.cases import cases
from tests.support.printing.hostile_documents import KINDS, SECRET, hostile_documents
from tests.support.servers.child_memory import ChildMemory

pytestmark = pytest.mark.slow
DOCUMENTS, MEGABYTES = cases(len(KINDS), 500), 400


def test_hostile_pdfs_are_refused_with_a_sentence_or_taken(shop, tmp_path):
    make_product(shop.store, "leaflet", PageCount=2, WidthMM=Decimal("88.9"), HeightMM=Decimal("50.8"))
    client = shop.world.as_application()
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET)
    taken, refused = 0, 0

    with ChildMemory() as memory:
        for name, content in hostile_documents(DOCUMENTS, secret):
            response = client.post("/api/v1/store/associated/asset", content, content_type="application/pdf")
            assert response.status_code in {201, 400}, (name, response.content)
            if response.status_code == 400:
                refused += 1
                assert response.json()["Errors"][0]["Message"].endswith("."), name
                continue
            taken += 1
            served = client.get(response.json()["URL"].removeprefix("http://127.0.0.1:8000"))
            assert SECRET not in b"".join(served.streaming_content), name
            path = "/store/associated/product/leaflet/artwork"
            checked = client.call("POST", path, {"AssetID": response.json()["AssetID"]})
            assert checked.status_code in {200, 400}, (name, checked.content)

    assert taken
    assert refused
    assert memory.programs > DOCUMENTS
    assert 0 < memory.megabytes < MEGABYTES
