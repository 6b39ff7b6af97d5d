"""What the print files of one order may cost, and when they are stored."""

from io import BytesIO

import pytest
from django.core.files.storage import default_storage
from django.db import connection
from django.test.utils import CaptureQueriesContext
from PIL import Image

from fulfillment.core.errors import Invalid
from fulfillment.core.files import downloads
from production.jobs.selectors import job_number
from production.jobs.services.adapter_jobs import print_file_url
from stores.orders.models import Order, OrderItem
from stores.orders.services import order_prints
from tests.factories.orders import make_product, order_body
from tests.factories.templates import field, page, text_box

PHOTO = {"Field": "Photo", "Kind": "Image", "X": 5, "Y": 15, "Width": 50.8, "Height": 25.4, "Fit": "cover"}


@pytest.fixture
def photo_card(shop):
    make_product(
        shop.store,
        "photo-card",
        TemplateFields=[field("Name"), field("Photo", Type="Image", SubType="Upload")],
        Template={"Pages": [page(text_box("Name"), PHOTO)]},
    )


def lines(*names, **more):
    return [
        {"ProductID": "photo-card", "Quantity": 100, "TemplateData": {"Name": name, **more}} for name in names
    ]


def upload(shop):
    picture = BytesIO()
    Image.new("RGB", (60, 40), "teal").save(picture, "PNG")
    client, path = shop.world.as_application(), "/api/v1/store/associated/asset"
    return client.post(path, picture.getvalue(), content_type="image/png").json()["AssetID"]


def place(shop, items, **extra):
    return shop.place(body=order_body(Items=items), **extra)


def only_fault(response):
    assert response.status_code == 400, response.content
    [fault] = response.json()["Errors"]
    return fault["Pointer"], fault["Code"]


def test_whole_number_of_any_size_is_no_text(shop, photo_card):
    assert only_fault(place(shop, lines(2**70)))[0] == "/Items/0/TemplateData/Name"


def test_print_files_of_an_order_have_a_size_together(shop, photo_card, monkeypatch, stored_files):
    monkeypatch.setattr(order_prints, "MAX_PRINT_BYTES", 1)
    one = place(shop, lines("Ada")[:1])
    assert only_fault(one) == ("/Items/0", "order_too_large")
    monkeypatch.undo()
    size = place(shop, lines("Ada")).json()["Items"][0]["PrintFile"]["Bytes"]
    before = stored_files()

    monkeypatch.setattr(order_prints, "MAX_PRINT_BYTES", size + 10)
    refused = place(shop, lines("Ada", "Ada", "Grace", "Edith"))

    assert only_fault(refused) == ("/Items/2", "order_too_large")
    assert f"{size + 10:,} bytes" in refused.json()["Errors"][0]["Message"]
    assert (stored_files(), Order.objects.count()) == (before, 1)


def test_values_of_an_order_have_a_size_together(shop, photo_card, monkeypatch, stored_files):
    """Those of a batch had up to 100 MB, which every request that reads its order took into memory."""
    monkeypatch.setattr(order_prints, "MAX_VALUES_BYTES", 45)

    refused = place(shop, lines("Ada", "Ada", "Ada"))

    assert only_fault(refused) == ("/Items/2", "order_too_large")
    assert "45 bytes" in refused.json()["Errors"][0]["Message"]
    assert (stored_files(), Order.objects.count()) == ([], 0)
    assert place(shop, lines("Ada", "Ada")).status_code == 201


def test_print_files_of_an_order_have_a_time_together(shop, photo_card, monkeypatch, stored_files):
    clock, given = [100.0], []
    render = order_prints.render_print_file

    def take_twelve_seconds(*, seconds, **arguments):
        given.append(seconds)
        clock[0] += 12
        return render(**arguments)

    monkeypatch.setattr(order_prints, "render_print_file", take_twelve_seconds)
    monkeypatch.setattr(order_prints, "own_time", lambda: clock[0])

    refused = place(shop, lines("Ada", "Grace", "Edith", "Mary"))

    assert only_fault(refused) == ("/Items/2", "order_too_large")
    assert "20 seconds" in refused.json()["Errors"][0]["Message"]
    assert given == [20.0, 8.0]
    assert (stored_files(), Order.objects.count()) == ([], 0)


def test_file_that_had_only_the_rest_of_the_time_is_ordered_separately(shop, photo_card, monkeypatch):
    clock, render = [100.0], order_prints.render_print_file

    def take_twelve_seconds(*, seconds, **arguments):
        clock[0] += 12
        if seconds < 12:
            raise Invalid.at("", "rendering_too_slow", "The same values would fail again.")
        return render(**arguments)

    monkeypatch.setattr(order_prints, "render_print_file", take_twelve_seconds)
    monkeypatch.setattr(order_prints, "own_time", lambda: clock[0])

    assert only_fault(place(shop, lines("Ada", "Grace"))) == ("/Items/1", "order_too_large")


def test_product_and_picture_are_loaded_once_an_order(shop, photo_card, monkeypatch):
    photo, opened = upload(shop), []
    read = default_storage.open
    monkeypatch.setattr(
        default_storage._wrapped, "open", lambda name, *mode: opened.append(name) or read(name, *mode)
    )

    with CaptureQueriesContext(connection) as queries:
        placed = place(shop, lines("Ada", "Grace", "Edith", "Mary", Photo=photo))

    assert placed.status_code == 201, placed.content
    said = [query["sql"] for query in queries]
    assert sum("FROM stores_product product WHERE id = ANY" in sql for sql in said) == 1
    assert sum('SELECT "stores_asset"' in sql for sql in said) == 1
    assert sum(name.startswith("assets/") for name in opened) == 1
    assert OrderItem.objects.values("print_file").distinct().count() == 4


@pytest.mark.django_db(transaction=True)
def test_each_print_file_is_stored_when_rendered_and_outside_of_the_transaction(
    shop, photo_card, monkeypatch, stored_files
):
    seen = []
    render, save, delete = order_prints.render_print_file, default_storage.save, default_storage.delete

    def seeing(what, act):
        def seen_act(*args, **kwargs):
            seen.append((what, connection.in_atomic_block))
            return act(*args, **kwargs)

        return seen_act

    monkeypatch.setattr(order_prints, "render_print_file", seeing("render", render))
    monkeypatch.setattr(default_storage._wrapped, "save", seeing("save", save))
    monkeypatch.setattr(default_storage._wrapped, "delete", seeing("delete", delete))
    items = lines("Ada", "Ada", "Grace")

    assert place(shop, items, HTTP_IDEMPOTENCY_KEY="k-1").status_code == 201
    assert seen == [("render", False), ("save", False)] * 2
    kept, seen[:] = stored_files(), []
    monkeypatch.setattr("stores.orders.services.orders.record_order_event", lambda *_, **__: 1 / 0)
    assert place(shop, items, HTTP_IDEMPOTENCY_KEY="k-2").status_code == 500

    assert seen == [("render", False), ("save", False)] * 2 + [("delete", False)] * 2
    assert stored_files() == kept


def test_order_says_what_the_proof_of_its_data_says(shop, photo_card):
    data = {"Name": "Ada", "Photo": upload(shop)}
    client = shop.world.as_application()
    proof = client.call("POST", "/store/associated/product/photo-card/proof", data).json()
    [said] = proof["_meta"]["Messages"]

    items = [{"ItemKey": "front", "ProductID": "photo-card", "Quantity": 100, "TemplateData": data}]
    first = place(shop, items, HTTP_IDEMPOTENCY_KEY="k-1")
    again = place(shop, items, HTTP_IDEMPOTENCY_KEY="k-1")

    assert "dpi" in said
    assert first.json()["_meta"]["Messages"] == [f"Item front: {said}"]
    assert again.content == first.content


@pytest.mark.parametrize("page", ["api", "application", "console", "press"])
def test_large_print_files_are_sent_one_at_a_time(client, shop, photo_card, page, monkeypatch, settings):
    """24 slow readers of one of 40 MB took 2 GB."""
    place(shop, lines("Ada"))
    item = OrderItem.objects.get()
    order, person = item.order, shop.world.operator if page == "console" else shop.world.user
    client.force_login(person)
    address, reader = {
        "api": (
            f"/api/v1/store/associated/order/{order.pk}/item/{item.item_key}/print-file",
            shop.world.as_application(),
        ),
        "application": (f"/print-files/{order.application_id}/{order.pk}/{item.item_key}", client),
        "console": (f"/admin/stores/order/{order.pk}/print-file/0", client),
        "press": (print_file_url(item, job_number(order, 0)).removeprefix(settings.PUBLIC_URL), client),
    }[page]
    whole = reader.get(address).content
    monkeypatch.setattr(downloads, "AT_ONCE_BYTES", 0)
    settings.CONCURRENCY_WAIT_SECONDS = 0

    first, second = reader.get(address), reader.get(address)
    sent = b"".join(first.streaming_content)
    third = reader.get(address)
    assert b"".join(third.streaming_content) == whole

    assert (first.status_code, second.status_code, third.status_code) == (
        200,
        302 if page == "console" else 429,
        200,
    )
    assert (sent, int(first["Content-Length"])) == (whole, len(whole))
