import os
import time
from datetime import timedelta

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts.callers import Caller
from stores.files import proof_files
from stores.models import Proof
from stores.selectors.proofs import product_version_of
from stores.services import pruning
from stores.services.proofs import make_proof
from stores.services.pruning import prune_proofs
from tests.factories.templates import make_card


@pytest.fixture
def make(world):
    product = product_version_of(make_card(world.associated).pk)

    def call(name, days_ago=0):
        digest = make_proof(caller=Caller(), product=product, values={"Name": name}).digest
        Proof.objects.filter(digest=digest).update(last_used=timezone.now() - timedelta(days=days_ago))
        return digest

    return call


def age(names):
    then = time.time() - 86_400
    for name in names:
        os.utime(default_storage.path(name), (then, then))


def test_unused_proofs_go_with_their_files_in_batches(make, stored_files, monkeypatch):
    monkeypatch.setattr(pruning, "BATCH", 2)
    kept = make("Ada", 44)
    for name in ("Grace", "Jean", "Klara", "Mary", "Sophie"):
        make(name, 46)

    summary = prune_proofs(days=45)

    assert summary.proofs == 5
    assert list(Proof.objects.values_list("digest", flat=True)) == [kept]
    assert sorted(stored_files()) == sorted(proof_files(kept, 1))


def test_what_a_crash_left_behind_is_found_by_the_next_run(make, stored_files, monkeypatch):
    """Killed after the rows went, and (another one) before the row came."""
    make("Ada", 46)
    with monkeypatch.context() as context:
        context.setattr(pruning, "_clear_folder", lambda *args, **kwargs: pytest.fail("killed"))
        with pytest.raises(BaseException, match="killed"):
            prune_proofs(days=45)
    picture = "assets/8d/8d5a6e0e3a524b8c9a352f1c9b7d4e10.png"
    default_storage.save(picture, ContentFile(b"x"))
    young = stored_files()
    assert (Proof.objects.count(), len(young)) == (0, 3)

    assert prune_proofs(days=45).stray_folders == 0
    assert stored_files() == young

    age(young)
    summary = prune_proofs(days=45)
    assert (summary.stray_folders, summary.stray_assets, stored_files()) == (1, 1, [])


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

    prune_proofs(days=45)

    assert (len(before), stored_files()) == (3, before)


def test_proof_made_again_meanwhile_keeps_its_files(make, stored_files):
    digest = make("Ada")

    assert pruning._clear_folder(digest) is False
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
    with pytest.raises(CommandError, match="at least 33 days"):
        call_command("prune", "--days", "30")
