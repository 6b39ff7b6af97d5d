import os
import time
from datetime import timedelta

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts.callers import Caller
from stores.proofs.file_names import proof_files
from stores.proofs.models import Asset, Proof
from stores.proofs.selectors import product_version_of
from stores.proofs.services import retention
from stores.proofs.services.proofs import make_proof
from tests.factories.orders import order_body
from tests.factories.pictures import make_photo_card, upload
from tests.factories.templates import make_card


@pytest.fixture
def make(world):
    product = product_version_of(make_card(world.associated).pk)

    def call(name, days_ago=0):
        digest = make_proof(caller=Caller(), product=product, values={"Name": name}).digest
        Proof.objects.filter(digest=digest).update(last_used=timezone.now() - timedelta(days=days_ago))
        return digest

    return call


def pruned():
    return {
        rule.name: sum(rule.remove(2))
        for rule in [retention.unused_proofs(45), *retention.retention_rules()[1:]]
    }


def age(names):
    then = time.time() - 86_400
    for name in names:
        os.utime(default_storage.path(name), (then, then))


def test_unused_proofs_are_removed_with_their_files_in_batches(make, stored_files):
    kept = make("Ada", 44)
    for name in ("Grace", "Jean", "Klara", "Mary", "Sophie"):
        make(name, 46)

    assert pruned()["proofs"] == 5
    assert list(Proof.objects.values_list("digest", flat=True)) == [kept]
    assert sorted(stored_files()) == sorted(proof_files(kept, 1))


def test_leftovers_of_a_crash_are_found_by_the_next_run(make, stored_files, monkeypatch):
    """Killed after the rows went, and (another one) before the row came."""
    make("Ada", 46)
    with monkeypatch.context() as context:
        context.setattr(retention, "_clear_folder", lambda *args, **kwargs: pytest.fail("killed"))
        with pytest.raises(BaseException, match="killed"):
            pruned()
    picture = "assets/8d/8d5a6e0e3a524b8c9a352f1c9b7d4e10.png"
    default_storage.save(picture, ContentFile(b"x"))
    young = stored_files()
    assert (Proof.objects.count(), len(young)) == (0, 3)

    assert set(pruned().values()) == {0}
    assert stored_files() == young

    age(young)
    counts = pruned()
    assert (counts["stray proof folders"], counts["stray pictures"], stored_files()) == (1, 1, [])


def test_assets_and_proofs_in_use_stay(world, make, stored_files):
    client = world.as_application()
    png = bytes.fromhex(
        "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b55"
        "0000000a49444154789c6360000000020001482164a40000000049454e44ae426082"
    )
    assert client.post("/api/v1/store/associated/asset", png, content_type="image/png").status_code == 201
    make("Ada")
    before = stored_files()
    age(before)

    pruned()

    assert (len(before), stored_files()) == (3, before)


def test_proof_made_again_meanwhile_keeps_its_files(make, stored_files):
    digest = make("Ada")

    assert retention._clear_folder(digest) is False
    assert len(stored_files()) == 2


def test_storage_failure_ends_the_run_with_a_sentence(make, monkeypatch):
    make("Ada", 46)

    def fail(name):
        raise ConnectionError("the storage is away")

    monkeypatch.setattr(default_storage._wrapped, "delete", fail)
    with pytest.raises(CommandError, match="file storage"):
        call_command("prune")


def test_command_says_what_it_removed(make, capsys):
    make("Ada", 46)

    call_command("prune")

    said = capsys.readouterr().out.splitlines()
    assert [line.split(None, 1) for line in said if not line.startswith("        0")] == [
        ["1", "proofs removed"]
    ]
    for days in ("30", "99999999999"):
        with pytest.raises(CommandError, match="--days is a number from 33 to 3650"):
            call_command("prune", "--days", days)


def unused_for(days, *asset_ids):
    Asset.objects.filter(pk__in=asset_ids).update(last_used=timezone.now() - timedelta(days=days))


@pytest.fixture
def photo_card(world):
    return make_photo_card(world.associated)


def remove(name):
    [rule] = [rule for rule in retention.retention_rules() if rule.name == name]
    expected = rule.count()
    assert sum(rule.remove(2)) == expected
    assert rule.count() == 0
    return expected


def test_unused_pictures_are_removed_with_their_files(world, stored_files):
    client = world.as_application()
    old = [upload(client) for _ in range(5)]
    kept = upload(client)
    unused_for(91, *old)
    unused_for(89, kept)

    assert remove("unused pictures") == 5
    assert [str(asset.pk) for asset in Asset.objects.all()] == [kept]
    assert stored_files() == [f"assets/{kept[:2]}/{kept.replace('-', '')}.png"]


def test_pictures_that_are_used_ordered_or_named_by_a_template_stay(world, photo_card):
    client = world.as_application()
    proofed, ordered, default, unused = (upload(client) for _ in range(4))
    item = {"ProductID": "photo-card", "Quantity": 100, "TemplateData": {"Photo": ordered}}
    assert client.call("POST", "/store/associated/order", order_body(Items=[item])).status_code == 201
    photo_card.template_fields.update(default_value=default)
    unused_for(91, proofed, ordered, default, unused)
    response = client.call("POST", "/store/associated/product/photo-card/proof", {"Photo": proofed})
    assert response.status_code == 200

    assert remove("unused pictures") == 1
    assert {str(asset.pk) for asset in Asset.objects.all()} == {proofed, ordered, default}


def test_picture_whose_file_is_gone_is_refused_by_field(world, photo_card, stored_files):
    client = world.as_application()
    asset_id = upload(client)
    for name in stored_files():
        default_storage.delete(name)

    refused = client.call("POST", "/store/associated/product/photo-card/proof", {"Photo": asset_id})

    assert refused.status_code == 400
    assert [(e["Pointer"], e["Code"]) for e in refused.json()["Errors"]] == [("/Photo", "unknown_asset")]
