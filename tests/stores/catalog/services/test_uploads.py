"""Catalog files that come through the browser."""

import gzip
import io
import json
import tracemalloc
import zlib
from unittest.mock import Mock

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection, transaction
from procrastinate.contrib.django.models import ProcrastinateJob

from fulfillment.core.errors import Conflict, Invalid
from fulfillment.operations.retention import all_retention_rules
from stores.catalog.catalog_file import reader
from stores.catalog.models import CatalogUpload, DeliveredPrice, Product, Store
from stores.catalog.services import uploads
from stores.catalog.services.imports import export_catalog, import_catalog
from stores.catalog.services.products import save_product
from stores.catalog.services.refresh import begin_catalog_work
from stores.catalog.services.uploads import (
    TASK,
    check_catalog_again,
    discard_catalog_upload,
    receive_catalog_upload,
    start_catalog_import,
)
from tests.factories.orders import price_values, product_values
from tests.factories.stores import make_product, make_store
from tests.support.patience import wait_for
from tests.support.servers.queued_jobs import work_off
from tests.support.servers.workers import forget_jobs, working

pytestmark = pytest.mark.django_db


@pytest.fixture
def file(world):
    """The catalog of a store with two products, one of which the file changes and one of which it adds."""
    store = make_store(StoreID="print")
    make_product(store, ID="card", Name="Card")
    content = json.loads(b"".join(export_catalog(store_ids=["print"])))
    card = content["Stores"][0]["Products"][0]
    content["Stores"][0]["Products"] = [{**card, "ID": "new", "Name": "New"}, {**card, "Name": "Better card"}]
    return content


def sent(world, content, *, store=None, name="catalog.json"):
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    return receive_catalog_upload(upload=SimpleUploadedFile(name, raw), by=world.operator, store=store)


def checked(world, content, **options):
    upload = sent(world, content, **options)
    assert work_off(TASK) == 1
    upload.refresh_from_db()
    return upload


def names():
    return list(Product.objects.filter(store__external_id="print").values_list("name", flat=True))


def test_check_says_what_an_import_would_change_and_changes_nothing(world, file):
    upload = checked(world, file)

    assert (upload.state, upload.percent, upload.error) == ("checked", 100, "")
    assert names() == ["Card"]
    assert (upload.summary["products_new"], upload.summary["products_changed"]) == (1, 1)
    reported = [
        (change["kind"], change["product_id"], change["members"]) for change in upload.summary["changes"]
    ]
    assert reported == [("new", "new", []), ("changed", "card", ["Name"]), ("reordered", "", [])]


def test_import_writes_it_in_the_name_of_who_started_it(world, file):
    upload = checked(world, file)

    start_catalog_import(upload=upload, by=world.user)
    assert names() == ["Card"]
    assert work_off(TASK) == 1

    upload.refresh_from_db()
    assert (upload.state, upload.created_by, upload.imported_by) == ("imported", world.operator, world.user)
    assert names() == ["New", "Better card"]
    context = Product.objects.get(external_id="new").events.get().pgh_context.metadata
    assert (context["user"], context["source"]) == (str(world.user.pk), "import_catalog")


def test_packed_files_are_known_by_their_content(world, file):
    upload = checked(world, gzip.compress(json.dumps(file).encode()), name="catalog.json")

    assert upload.state == "checked"


def test_errors_are_kept_with_their_places(world, file):
    file["Stores"][0]["Products"][1]["MinimumQty"] = 0
    file["Stores"][0]["Products"][0]["a\0b"] = 1

    upload = checked(world, file)

    assert (upload.state, upload.fault_count) == ("refused", 2)
    assert [pointer for pointer, _ in upload.faults] == [
        "/Stores/0/Products/0/a\N{SYMBOL FOR NULL}b",
        "/Stores/0/Products/1/MinimumQty",
    ]
    with pytest.raises(Conflict):
        start_catalog_import(upload=upload, by=world.operator)


def test_import_for_one_store_takes_no_other_one(world, file):
    upload = checked(world, file, store=world.associated)

    assert upload.state == "refused"
    assert upload.faults == [
        ["/Stores/0/StoreID", 'StoreID: this import accepts only associated; found "print".']
    ]
    assert checked(world, file, store=Store.objects.get(external_id="print")).state == "checked"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"[]", "must contain one JSON object"),
        (b"{", "not valid JSON"),
        (b"not json", "not valid JSON"),
        (b"\x1f\x8b\x08\x00broken", "not a complete gzip file"),
        (gzip.compress(b"{" * 90)[:-6], "not a complete gzip file"),
        (b'{"Format": "store-fulfillment-catalog", "Version": 1', "not valid JSON"),
        (b"[" * 100_000, "must contain one JSON object"),
        (b'{"Format":' + b"[" * 100_000, "nested deeper"),
        (b"\xff\xfe{}", "JSON"),
    ],
    # What is packed holds the time of its packing, and names must be the same in every process.
    ids=[
        *("array", "cut off", "no JSON", "head of gzip", "cut gzip", "cut object"),
        *("deep array", "deep object", "no UTF-8"),
    ],
)
def test_hostile_files_are_refused_in_a_sentence(world, content, says):
    upload = checked(world, content)

    assert upload.state == "refused"
    assert says in upload.faults[0][1]


def test_empty_and_a_huge_file_are_not_kept(world, monkeypatch, stored_files):
    with pytest.raises(Invalid, match="empty"):
        sent(world, b"")
    monkeypatch.setattr(uploads, "UPLOAD_BYTES", 10)
    with pytest.raises(Invalid, match="at most 10 are accepted here"):
        sent(world, b"{" * 11)

    assert not CatalogUpload.objects.exists()
    assert stored_files() == []


def test_small_file_that_unpacks_to_a_huge_one_is_stopped(world, monkeypatch):
    monkeypatch.setattr(uploads, "UNPACKED_BYTES", 1_000_000)

    upload = checked(world, gzip.compress(b" " * 50_000_000))

    assert "more than 1,000,000 bytes when decompressed" in upload.faults[0][1]


def test_entry_that_never_ends_is_not_held_in_memory(monkeypatch):
    monkeypatch.setattr(reader, "MAX_ENTRY_BYTES", 1_000_000)
    packed = zlib.compressobj(wbits=31)
    head = b'{"Format": "store-fulfillment-catalog", "Version": 1, "Stores": [{"StoreID": "'
    raw = packed.compress(head + b"x" * 20_000_000) + packed.flush()
    source = reader.CatalogSource(io.BytesIO(raw))

    with pytest.raises(Invalid, match="Nothing was imported") as raised:
        import_catalog(source=source)

    assert "One entry has more than 1,000,000 bytes" in raised.value.faults[0].message
    assert source.bytes_read < 2_000_000


@pytest.mark.parametrize("values", [b"1.5," * 3_000_000, b'{"a":[],"b":{}},' * 800_000])
@pytest.mark.slow
def test_entry_of_very_many_values_is_not_held_in_memory(values):
    """Each takes 100 bytes and more, many times what it takes in the file."""
    head = b'{"Format": "store-fulfillment-catalog", "Version": 1, "Stores": [{"StoreID": "a", "Metadata": ['
    source = reader.CatalogSource(io.BytesIO(gzip.compress(head + values + b"1]}]}")))

    tracemalloc.start()
    try:
        with pytest.raises(Invalid, match="Nothing was imported") as raised:
            import_catalog(source=source)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    message = raised.value.faults[0].message
    assert message == f"One entry has more than {reader.MAX_VALUES:,} names and values."
    assert peak < 100_000_000


def test_import_that_would_change_more_than_the_check_said_changes_nothing(world):
    """Another person raised a price meanwhile, which the file would lower without a word."""
    values = product_values("card")
    product = save_product(store=world.associated, values=values)
    content = json.loads(b"".join(export_catalog(store_ids=["associated"])))
    card = content["Stores"][0]["Products"][0]
    content["Stores"][0]["Products"].append({**card, "ID": "new", "APIKey": "NEW"})
    upload = checked(world, content)
    dearer = [price_values("GROUND", "9.00", is_default=True)]
    save_product(store=world.associated, values={**values, "DeliveredPrices": dearer}, product=product)

    start_catalog_import(upload=upload, by=world.operator)
    work_off(TASK)

    upload.refresh_from_db()
    prices = DeliveredPrice.objects.filter(product=product).order_by("position")
    assert (upload.state, [str(price.price) for price in prices]) == ("checked", ["9.00"])
    assert "The catalog changed since the check, so nothing was imported." in upload.error
    assert [change["product_id"] for change in upload.summary["changes"]] == ["card", "new"]
    start_catalog_import(upload=upload, by=world.operator)
    work_off(TASK)
    upload.refresh_from_db()
    assert (upload.state, upload.error, prices.all().count()) == ("imported", "", 3)


def test_import_resets_no_price_of_a_product_that_the_check_named(world):
    """The check names the members that change, not their values."""
    values = product_values("card")
    product = save_product(store=world.associated, values=values)
    content = json.loads(b"".join(export_catalog(store_ids=["associated"])))
    content["Stores"][0]["Products"][0]["DeliveredPrices"][0]["Price"] = 3.5
    upload = checked(world, content)
    dearer = [price_values("GROUND", "9.00", is_default=True)]
    save_product(store=world.associated, values={**values, "DeliveredPrices": dearer}, product=product)

    start_catalog_import(upload=upload, by=world.operator)
    work_off(TASK)

    upload.refresh_from_db()
    assert (upload.state, str(DeliveredPrice.objects.get(product=product).price)) == ("checked", "9.00")
    start_catalog_import(upload=upload, by=world.operator)
    work_off(TASK)
    upload.refresh_from_db()
    assert (upload.state, upload.error) == ("imported", "")


def test_import_that_waited_for_another_one_still_compares_with_its_check(world, monkeypatch):
    values = product_values("card")
    product = save_product(store=world.associated, values=values)
    upload = checked(world, json.loads(b"".join(export_catalog(store_ids=["associated"]))))
    start_catalog_import(upload=upload, by=world.operator)
    with monkeypatch.context() as patched:
        patched.setattr(
            uploads, "import_catalog", Mock(side_effect=Conflict("Another import runs.", code="busy"))
        )
        with pytest.raises(Conflict):
            uploads.work_on_catalog_upload(upload_id=upload.pk)
    dearer = [price_values("GROUND", "9.00", is_default=True)]
    save_product(store=world.associated, values={**values, "DeliveredPrices": dearer}, product=product)

    uploads.work_on_catalog_upload(upload_id=upload.pk)

    upload.refresh_from_db()
    assert (upload.state, str(DeliveredPrice.objects.get(product=product).price)) == ("checked", "9.00")


def test_pressed_twice_it_is_imported_once(world, file):
    upload = checked(world, file)
    start_catalog_import(upload=upload, by=world.operator)

    with pytest.raises(Conflict, match="being processed, or was already imported"):
        start_catalog_import(upload=upload, by=world.user)
    with pytest.raises(Conflict):
        discard_catalog_upload(upload=upload)

    assert ProcrastinateJob.objects.filter(task_name=TASK, status="todo", lock=TASK).count() == 1


@pytest.mark.django_db(transaction=True)
def test_while_another_import_runs_it_waits_for_its_turn(world, file):
    upload = sent(world, file)
    other = connection.copy()
    try:
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(7306410001)")
            with pytest.raises(Conflict):
                work_off(TASK)
            upload.refresh_from_db()
            assert (upload.state, upload.finished is None) == ("waiting", False)
            assert "Another import or refresh of the catalog is running" in upload.error
    finally:
        other.close()

    work_off(TASK)
    upload.refresh_from_db()
    assert (upload.state, upload.error) == ("checked", "")
    with transaction.atomic():
        begin_catalog_work()


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_real_worker_checks_and_imports(world, file):
    forget_jobs()
    upload = sent(world, file)

    def state() -> str:
        return CatalogUpload.objects.values_list("state", flat=True).get()

    with working():
        wait_for(lambda: state() == "checked")
        assert names() == ["Card"]
        start_catalog_import(upload=upload, by=world.operator)
        wait_for(lambda: state() == "imported")

    assert names() == ["New", "Better card"]
    forget_jobs()


@pytest.mark.parametrize(("found", "then"), [("checking", "checked"), ("importing", "imported")])
def test_work_of_a_killed_worker_is_resumed(world, file, found, then):
    """Its job comes again; what it had written was taken back with its transaction."""
    upload = sent(world, file)
    CatalogUpload.objects.update(state=found)

    work_off(TASK)

    upload.refresh_from_db()
    assert upload.state == then


def test_import_that_breaks_leaves_nothing_and_can_be_tried_again(world, file, monkeypatch):
    upload = checked(world, file)
    start_catalog_import(upload=upload, by=world.operator)
    with monkeypatch.context() as patched:
        patched.setattr(uploads, "import_catalog", lambda **_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            work_off(TASK)
    upload.refresh_from_db()
    assert upload.state == "failed"
    assert "the log has the details" in upload.error
    ProcrastinateJob.objects.filter(task_name=TASK).delete()

    check_catalog_again(upload=upload)
    work_off(TASK)

    upload.refresh_from_db()
    assert (upload.state, names()) == ("checked", ["Card"])


def test_file_that_is_gone_is_reported(world, file):
    upload = sent(world, file)
    default_storage.delete(upload.upload.name)

    work_off(TASK)

    upload.refresh_from_db()
    assert upload.state == "failed"
    assert "The file cannot be read" in upload.error


def test_thrown_away_it_is_gone_with_its_file(world, file, django_capture_on_commit_callbacks, stored_files):
    upload = checked(world, file)

    with django_capture_on_commit_callbacks(execute=True):
        discard_catalog_upload(upload=upload)

    assert not CatalogUpload.objects.exists()
    assert stored_files() == []


def test_check_of_what_was_thrown_away_does_nothing(world, file):
    discard_catalog_upload(upload=sent(world, file))

    assert work_off(TASK) == 1


def test_files_are_pruned_and_their_records_stay(world, file, stored_files):
    upload = checked(world, file)
    (rule,) = [rule for rule in all_retention_rules() if rule.name == "files of old catalog imports"]
    assert rule.count() == 0
    CatalogUpload.objects.update(updated="2020-01-01T00:00:00Z")

    assert (rule.count(), sum(rule.remove(10))) == (1, 1)

    assert stored_files() == []
    upload.refresh_from_db()
    assert (upload.upload.name, upload.state) == ("", "checked")
