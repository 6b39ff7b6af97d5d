import io
import json
import threading
from decimal import Decimal
from pathlib import Path

import pytest
from django.db import connection, transaction

from applications.webhooks.selectors.webhooks import event_page
from fulfillment.core.errors import Conflict
from stores.catalog.catalog_file.writer import write_catalog
from stores.catalog.models import Product, Store
from stores.catalog.selectors.products import catalog_of
from stores.catalog.services import imports
from stores.catalog.services.imports import CatalogInvalid, import_catalog
from stores.catalog.services.products import archive_product
from tests.factories.presets import PrintPresetFactory
from tests.factories.stores import make_product, make_store, price_values, product_values, store_values
from tests.factories.templates import make_card
from tests.factories.webhooks import make_event
from tests.support.catalog.imports import load
from tests.support.catalog.renderings import assert_renderings_fresh
from tests.support.patience import PATIENCE, wait_for


def catalog(*stores, **members):
    return {"Format": "store-fulfillment-catalog", "Version": 1, "Stores": list(stores), **members}


def store(*products, **values):
    return {**store_values(), "StoreID": "print", **values, "Products": list(products)}


def product(**values):
    return json.loads(json.dumps(product_values(**values), default=float))


def export():
    with transaction.atomic():
        return b"".join(write_catalog(catalog_of([])))


def state():
    return [list(Store.objects.order_by("pk").values()), list(Product.objects.order_by("pk").values())]


@pytest.mark.django_db
class TestImport:
    def test_new_stores_and_products_are_rendered(self):
        summary = load(catalog(store(product(ID="a"), product(ID="b"))))

        assert (summary.stores_new, summary.products_new) == (1, 2)
        assert Store.objects.get().product_count == 2
        assert list(Product.objects.values_list("external_id", "position", "version")) == [
            ("a", 0, 1),
            ("b", 1, 1),
        ]
        assert_renderings_fresh()

    def test_same_file_again_writes_nothing(self):
        file = catalog(store(product(), product()))
        load(file)
        before = state()

        summary = load(file)

        assert (summary.products_same, summary.products_changed, summary.stores_same) == (2, 0, 1)
        assert state() == before
        assert [p.events.count() for p in Product.objects.all()] == [1, 1]

    def test_only_what_differs_is_written(self):
        file = catalog(store(product(ID="a"), product(ID="b"), product(ID="c")))
        load(file)
        file["Stores"][0]["Products"][1]["DeliveredPrices"].append(
            json.loads(json.dumps(price_values(CountryCode="CA"), default=float))
        )

        summary = load(file)

        assert (summary.products_changed, summary.products_same) == (1, 2)
        assert dict(Product.objects.values_list("external_id", "version")) == {"a": 1, "b": 2, "c": 1}
        changed = Product.objects.get(external_id="b")
        assert [price.created for price in changed.delivered_prices.all()] == [
            changed.created,
            changed.created,
            changed.updated,
        ]
        assert Store.objects.get().catalog_version == 3
        assert_renderings_fresh()

    def test_products_the_file_does_not_name_stay(self):
        kept = make_product(make_store(StoreID="print"), ID="kept")

        load(catalog(store(product(ID="new"))))

        assert list(Product.objects.values_list("external_id", flat=True)) == ["kept", "new"]
        assert Product.objects.get(pk=kept.pk).version == 1

    def test_order_of_the_file_is_followed_only_where_it_differs(self):
        first = [product(ID=name) for name in "abcd"]
        load(catalog(store(*first)))
        before = state()[1]

        load(catalog(store(*(product_ for product_ in first if product_["ID"] != "b"))))
        assert state()[1] == before

        load(catalog(store(first[0], product(ID="x"), *first[1:])))
        assert "".join(Product.objects.values_list("external_id", flat=True)) == "axbcd"
        assert [p.events.count() for p in Product.objects.exclude(external_id="x")] == [1, 1, 1, 1]

        load(catalog(store(*reversed(first))))
        assert (
            "".join(Product.objects.values_list("external_id", flat=True).exclude(external_id="x")) == "dcba"
        )
        assert set(Product.objects.values_list("version", flat=True)) == {1}

    def test_example_of_the_documentation_can_be_imported(self):
        example = Path("docs/catalog.md").read_text().partition("```json\n")[2].partition("```")[0]

        assert load(example.encode()).products_new == 1

    def test_dry_run_counts_and_writes_nothing(self):
        summary = load(catalog(store(product())), dry_run=True)

        assert summary.products_new == 1
        assert state() == [[], []]

    def test_audit_trail_names_the_import(self):
        load(catalog(store(product())))

        event = Product.objects.get().events.get()
        assert (event.pgh_label, event.pgh_context.metadata) == ("insert", {"source": "import_catalog"})

    def test_batches_end_anywhere(self, monkeypatch):
        monkeypatch.setattr(imports, "BATCH", 2)

        summary = load(catalog(store(*(product() for _ in range(5))), store(product(), StoreID="b")))

        assert (summary.products_new, Store.objects.count()) == (6, 2)
        assert_renderings_fresh()


@pytest.mark.django_db
class TestRoundTrip:
    def fill(self):
        first = make_store(HoldWindowMinutes=5, Description="“quoted” \\ \n line", BudgetTypes=["Orders"])
        for number in range(3):
            make_product(first, Description=f"line\nbreak {number} é", WidthMM=Decimal(number + 1))
        archive_product(product=Product.objects.last())
        Product.objects.update(position=4)
        make_product(
            first, ID="dated", DeliveredPrices=[price_values(Created="2024-02-29T12:00:00.5Z", Price=7)]
        )
        make_product(
            first,
            ID="finished",
            StockCode="SILK-350",
            StockWeightGSM=350,
            Coating="Satin",
            Finish="Soft-touch lamination",
            Binding="SaddleStitch",
            BindingEdge="Top",
            Folding="F4-1",
            PieceWeightG=Decimal("12.5"),
            ThicknessMM=Decimal("0.42"),
        )
        make_card(first, "with-template")
        make_store()

    def test_export_then_import_changes_nothing(self):
        self.fill()
        before = state()

        summary = load(export())

        assert (summary.products_same, summary.stores_same) == (6, 2)
        assert state() == before

    def test_import_then_export_gives_the_same_bytes(self):
        self.fill()
        file = export()
        Store.objects.all().delete()

        load(file)

        assert export() == file
        assert json.dumps(json.loads(file), indent=1, ensure_ascii=False).encode() + b"\n" == file
        assert_renderings_fresh()


HEAD = b'{"Format": "store-fulfillment-catalog", "Version": 1, "Stores": '
PRODUCTS = "/Stores/0/Products"
FAULTS = {
    "empty": (b"", "", "malformed_json"),
    "cut off": (HEAD + b'[{"StoreID": "a", "Prod', "", "malformed_json"),
    "not JSON": (b"<catalog/>", "", "malformed_json"),
    "not UTF-8": (HEAD + b'[{"StoreID": "\xff\xfe"}]}', "", "malformed_json"),
    "text behind": (HEAD + b"[]} x", "", "malformed_json"),
    "array": (b"[]", "", "not_an_object"),
    "other format": (b'{"Format": "x"}', "/Format", "unknown_format"),
    "other version": (HEAD.replace(b"1", b"2") + b"[]}", "/Version", "unknown_version"),
    "unknown member": (catalog(More=1), "/More", "unknown_field"),
    "no stores": (b'{"Format": "store-fulfillment-catalog", "Version": 1}', "/Stores", "required"),
    "stores no array": (HEAD + b"{}}", "/Stores", "not_an_array"),
    "store no object": (catalog(5), "/Stores/0", "not_an_object"),
    "store twice": (catalog(store(), store()), "/Stores/1/StoreID", "repeated"),
    "two demos": (
        catalog(store(IsDemo=True), store(StoreID="b", IsDemo=True)),
        "/Stores/1/IsDemo",
        "not_unique",
    ),
    "store without name": (HEAD + b'[{"StoreID": "a"}]}', "/Stores/0/CompanyName", "required"),
    "store rule": (catalog(store(Currency="dollars")), "/Stores/0/Currency", "malformed"),
    "products first": (
        HEAD + b'[{"Products": [], "StoreID": "a"}]}',
        "/Stores/0/StoreID",
        "products_not_last",
    ),
    "products no array": (HEAD + b'[{"StoreID": "a", "Products": 1}]}', PRODUCTS, "not_an_array"),
    "member twice": (HEAD + b'[{"StoreID": "a", "StoreID": "b"}]}', "/Stores/0/StoreID", "repeated"),
    "product no object": (catalog(store(None)), f"{PRODUCTS}/0", "not_an_object"),
    "product twice": (catalog(store(product(ID="a"), product(ID="a"))), f"{PRODUCTS}/1/ID", "repeated"),
    "product rule": (catalog(store(product(), product(DefaultQty=0))), f"{PRODUCTS}/1/DefaultQty", None),
    "price": (
        catalog(store(product(DeliveredPrices=[{**product()["DeliveredPrices"][0], "Price": 0.125}]))),
        f"{PRODUCTS}/0/DeliveredPrices/0/Price",
        "not_a_price",
    ),
    "price as text": (
        catalog(store(product(DeliveredPrices=[{**product()["DeliveredPrices"][0], "Price": "1"}]))),
        f"{PRODUCTS}/0/DeliveredPrices/0/Price",
        "not_a_price",
    ),
    "fraction": (catalog(store(product(PageCount=2.0))), f"{PRODUCTS}/0/PageCount", None),
    "unknown": (catalog(store(product(**{"a/b": 1}))), f"{PRODUCTS}/0/a~1b", "unknown_field"),
    "unknown in a price": (
        catalog(store(product(DeliveredPrices=[{**product()["DeliveredPrices"][0], "Cost": 1}]))),
        f"{PRODUCTS}/0/DeliveredPrices/0/Cost",
        "unknown_field",
    ),
    "template": (catalog(store(product(Template=[]))), f"{PRODUCTS}/0/Template", "not_an_object"),
    "deep": (
        HEAD + b'[{"StoreID": "a", "x": ' + b"[" * 500 + b"]" * 500 + b"}]}",
        "/Stores/0/x",
        "too_deep",
    ),
}


@pytest.mark.django_db
@pytest.mark.parametrize("case", FAULTS)
def test_fault_is_named_with_its_place_and_nothing_is_imported(case):
    content, pointer, code = FAULTS[case]

    with pytest.raises(CatalogInvalid) as raised:
        load(content)

    faults = [(fault.pointer, fault.code) for fault in raised.value.faults]
    assert (pointer, code or "not_a_whole_number") in faults
    assert state() == [[], []]


@pytest.mark.django_db
def test_every_fault_is_counted():
    wrong = [product(Name="", PageCount=0, DeliveredPrices=[{}]) for _ in range(300)]

    with pytest.raises(CatalogInvalid) as raised:
        load(catalog(store(product(), *wrong), 7))

    assert raised.value.fault_count == 300 * 6 + 1
    assert len(raised.value.faults) == 1000
    assert state() == [[], []]


@pytest.mark.django_db(transaction=True)
class TestTogether:
    @pytest.fixture
    def slow_import(self):
        """An import that reads on at the end of the test; its results."""
        started, go_on = threading.Event(), threading.Event()
        results = []

        class Slow(io.BytesIO):
            def read(self, size=-1):
                started.set()
                go_on.wait(PATIENCE)
                return super().read(size)

        def first():
            try:
                results.append(import_catalog(source=Slow(json.dumps(catalog(store())).encode())))
            finally:
                connection.close()

        thread = threading.Thread(target=first)
        thread.start()
        assert started.wait(PATIENCE)
        yield
        go_on.set()
        thread.join()
        assert [summary.stores_new for summary in results] == [1]

    def test_second_import_is_refused(self, slow_import):
        with pytest.raises(Conflict) as raised:
            load(catalog(store()))

        assert raised.value.code == "catalog_busy"

    def test_import_holds_no_events_of_others_back(self, world, slow_import):
        event = make_event(world.application)

        # Another transaction that ends at this very moment, of a test beside, may hold it back for one look.
        wait_for(lambda: event_page(world.application).events == [event])

    def test_stopped_midway_leaves_nothing(self):
        class Stopped:
            def __init__(self, text):
                self.source = io.BytesIO(text)

            def read(self, size=-1):
                if self.source.tell() >= 200_000:
                    raise KeyboardInterrupt
                return self.source.read(min(size, 100_000))

        text = json.dumps(catalog(store(*(product() for _ in range(300))))).encode()

        with pytest.raises(KeyboardInterrupt):
            import_catalog(source=Stopped(text))

        assert state() == [[], []]
        assert load(text).products_new == 300


@pytest.mark.django_db
class TestPresets:
    def test_preset_is_named_by_its_id_and_exported_again(self):
        PrintPresetFactory(code="coated")

        load(catalog(store(product(ID="a", Preset="coated"), product(ID="b"))))

        assert list(Product.objects.values_list("external_id", "preset_id")) == [("a", "coated"), ("b", None)]
        assert export().count(b'"Preset": "coated"') == 1
        assert load(json.loads(export())).products_same == 2

    def test_preset_that_is_not_there_is_named_with_its_place(self):
        with pytest.raises(CatalogInvalid) as refusal:
            load(catalog(store(product(), product(Preset="glossy"))))

        assert [(fault.pointer, fault.code) for fault in refusal.value.faults] == [
            ("/Stores/0/Products/1/Preset", "unknown_preset")
        ]
        assert not Product.objects.exists()
