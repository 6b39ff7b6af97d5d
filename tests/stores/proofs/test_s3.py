"""Proofs, pictures and print files in a bucket, as FILE_STORAGE=s3 sets it up: over HTTP, to a server of moto."""

import hashlib
from io import BytesIO
from types import SimpleNamespace

import boto3
import pytest
from botocore import session as sessions
from botocore.exceptions import EndpointConnectionError
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage, storages
from django.core.management import CommandError, call_command
from django.test import Client
from PIL import Image

from fulfillment.core.environment import storage_settings
from fulfillment.core.uuid7 import new_uuid7
from stores.catalog.services.products import save_product
from stores.operations import retention_rules
from stores.orders.models import Order, OrderItem
from stores.orders.services import retention
from stores.orders.services.print_files import print_folder
from stores.proofs.models import Asset, Proof
from stores.proofs.services import retention as pruning
from tests.factories.orders import order_body, product_values
from tests.factories.templates import field, page, text_box
from tests.support.servers.buckets import serving_buckets

BUCKET = "prints"
PROOF = "/store/associated/product/card/proof"


@pytest.fixture(scope="module")
def server():
    """Every client would read the description of all services anew."""
    loader = sessions.create_loader()
    with serving_buckets() as address, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sessions, "create_loader", lambda *_: loader)
        yield address


@pytest.fixture
def bucket(server, settings, monkeypatch):
    """The storage the settings make of these variables; `fail(operation, after)` cuts the line to it."""
    variables = {
        "S3_BUCKET": BUCKET,
        "S3_PREFIX": "shop",
        "S3_REGION": "us-east-1",
        "S3_ENDPOINT_URL": server,
        "AWS_ACCESS_KEY_ID": "id",
        "AWS_SECRET_ACCESS_KEY": "secret",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    settings.STORAGES = {**settings.STORAGES, "default": storage_settings("s3")}
    own = boto3.resource("s3", region_name="us-east-1", endpoint_url=server).create_bucket(Bucket=BUCKET)
    sent: list[str] = []
    broken: dict[str, int] = {}

    def pass_by(model, **more):
        sent.append(model.name)
        if sent.count(model.name) > broken.get(model.name, 1_000_000):
            raise EndpointConnectionError(endpoint_url=server)

    def fail(operation, after=0):
        broken[operation] = sent.count(operation) + after

    default_storage.connection.meta.client.meta.events.register("before-call.s3", pass_by)
    yield SimpleNamespace(
        keys=lambda: sorted(entry.key for entry in own.objects.all()),
        read=lambda key: own.Object(key).get()["Body"].read(),
        puts=lambda: sent.count("PutObject"),
        fail=fail,
        mend=broken.clear,
    )
    own.objects.all().delete()
    own.delete()


@pytest.fixture
def shop_client(world, bucket):
    values = product_values(
        TemplateFields=[field("Name", Required=True), field("Photo", Type="Image", SubType="Upload")],
        Template={
            "Pages": [
                page(
                    text_box("Name"),
                    {"Field": "Photo", "Kind": "Image", "X": 5, "Y": 15, "Width": 20, "Height": 20},
                )
            ]
        },
    )
    save_product(store=world.associated, values=values)
    return world.as_application()


def path(url):
    assert url.startswith("http://127.0.0.1:8000/"), "the service serves it, not the bucket"
    return url.removeprefix("http://127.0.0.1:8000")


def fetched(url, **headers):
    response = Client().get(path(url), headers=headers)
    return response.status_code, response.getvalue()


def upload(client):
    content = BytesIO()
    Image.new("RGB", (240, 240), "teal").save(content, "PNG")
    return client.post("/api/v1/store/associated/asset", content.getvalue(), content_type="image/png")


def order_of(client, **data):
    item = {"ProductID": "card", "Quantity": 100, "TemplateData": {"Name": "Ada", **data}}
    return client.call("POST", "/store/associated/order", order_body(Items=[item]))


def test_proof_is_stored_once_and_served_at_its_signed_address(shop_client, bucket):
    first = shop_client.call("POST", PROOF, {"Name": "Ada"}).json()
    digest = Proof.objects.get().digest
    folder = f"shop/proofs/{digest[:2]}/{digest}"

    assert bucket.keys() == [f"{folder}/page-1.png", f"{folder}/proof.pdf"]
    assert fetched(first["PdfURL"]) == (200, bucket.read(f"{folder}/proof.pdf"))
    assert fetched(first["Side1URL"]) == (200, bucket.read(f"{folder}/page-1.png"))
    assert bucket.puts() == 2
    assert shop_client.call("POST", PROOF, {"Name": "Ada"}).json() == first
    assert bucket.puts() == 2


def test_part_of_a_pdf_is_answered(shop_client, bucket):
    url = shop_client.call("POST", PROOF, {"Name": "Ada"}).json()["PdfURL"]
    _, whole = fetched(url)

    assert fetched(url, Range="bytes=100-199") == (206, whole[100:200])
    assert fetched(url, Range="bytes=-20") == (206, whole[-20:])
    assert fetched(url, Range=f"bytes={len(whole)}-")[0] == 416
    head = Client().head(path(url))
    assert (head.status_code, head["Content-Length"]) == (200, str(len(whole)))


def test_picture_is_kept_served_and_printed(shop_client, bucket):
    asset = upload(shop_client).json()
    [key] = bucket.keys()

    assert fetched(asset["URL"]) == (200, bucket.read(key))
    proof = shop_client.call("POST", PROOF, {"Name": "Ada", "Photo": asset["AssetID"]}).json()
    shown = Image.open(BytesIO(fetched(proof["Side1URL"])[1])).convert("RGB")
    assert shown.getpixel((80, 140)) == (0, 128, 128)


def test_print_file_is_frozen_with_its_hash(shop_client, bucket):
    asset = upload(shop_client).json()
    order = order_of(shop_client, Photo=asset["AssetID"]).json()
    shown = order["Items"][0]["PrintFile"]

    response = shop_client.call("GET", shown["URL"].partition("/api/v1")[2], HTTP_ACCEPT="application/pdf")

    assert hashlib.sha256(response.content).hexdigest() == shown["SHA256"]
    assert bucket.read(f"shop/{OrderItem.objects.get().print_file}") == response.content


@pytest.mark.parametrize("taken", [0, 1])
def test_failure_to_write_is_503_and_leaves_nothing(shop_client, bucket, taken):
    bucket.fail("PutObject", after=taken)
    refused = shop_client.call("POST", PROOF, {"Name": "Ada"})

    assert (refused.status_code, refused.json()["Code"]) == (503, "storage_unavailable")
    assert refused["Retry-After"]
    assert (Proof.objects.count(), bucket.keys()) == (0, [])
    bucket.mend()
    assert shop_client.call("POST", PROOF, {"Name": "Ada"}).status_code == 200


def test_no_order_and_no_picture_without_its_file(shop_client, bucket):
    bucket.fail("PutObject")
    refused = [order_of(shop_client), upload(shop_client)]

    assert [(response.status_code, response.json()["Code"]) for response in refused] == [
        (503, "storage_unavailable")
    ] * 2
    assert (Order.objects.count(), Asset.objects.count(), bucket.keys()) == (0, 0, [])
    bucket.mend()
    assert order_of(shop_client).status_code == 201


@pytest.mark.parametrize("operation", ["HeadObject", "GetObject"])
def test_failure_to_read_is_503(shop_client, bucket, operation):
    url = shop_client.call("POST", PROOF, {"Name": "Ada"}).json()["PdfURL"]
    bucket.fail(operation)

    response = Client(raise_request_exception=False).get(path(url))

    assert (response.status_code, response["Retry-After"]) == (503, "5")
    assert b"storage" in response.getvalue()
    bucket.mend()
    assert fetched(url)[0] == 200


def test_lost_file_is_404(shop_client, bucket):
    url = shop_client.call("POST", PROOF, {"Name": "Ada"}).json()["PdfURL"]
    lost = bucket.keys()
    for key in lost:
        default_storage.delete(key.removeprefix("shop/"))

    assert fetched(url)[0] == 404


def test_files_without_a_row_are_pruned_from_the_bucket(shop_client, bucket, monkeypatch):
    shop_client.call("POST", PROOF, {"Name": "Ada"})
    shop_client.call("POST", PROOF, {"Name": "Grace"})
    [*_, kept] = upload(shop_client), upload(shop_client)
    assert order_of(shop_client).status_code == 201
    assert len(bucket.keys()) == 7
    Proof.objects.first().delete()
    Asset.objects.exclude(pk=kept.json()["AssetID"]).delete()
    stray = f"{print_folder(new_uuid7())}/0-0123456789abcdef.pdf"
    default_storage.save(stray, ContentFile(b"%PDF-"))

    assert {rule.name: rule.count() for rule in retention_rules() if rule.count()} == {}
    monkeypatch.setattr(retention, "YOUNG", -retention.YOUNG)
    monkeypatch.setattr(pruning, "_is_recent", lambda name, age: False)
    removed = {rule.name: sum(rule.remove(10)) for rule in retention_rules()}
    strays = {"stray proof folders": 1, "stray pictures": 1, "stray print files": 1}
    assert {name: count for name, count in removed.items() if count} == strays
    assert len(bucket.keys()) == 4
    assert {rule.name: rule.count() for rule in retention_rules() if rule.count()} == {}


@pytest.fixture
def both(bucket, settings, tmp_path):
    """The folder in use, and the bucket to move to."""
    settings.MEDIA_ROOT, settings.FILE_STORAGE = tmp_path, "folder"
    folder = storage_settings("folder")
    bucket_options = storage_settings("s3")
    settings.STORAGES = {**settings.STORAGES, "default": folder, "folder": folder, "s3": bucket_options}
    return bucket


def files_below(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_files_move_to_the_bucket_and_back_and_are_compared(both, shop_client, settings, tmp_path, capsys):
    upload(shop_client)
    assert order_of(shop_client).status_code == 201
    before = files_below(tmp_path)
    assert len(before) >= 2

    call_command("move_files", "s3")

    assert f"{len(before)} files copied, 0 there already" in capsys.readouterr().out
    assert {key.removeprefix("shop/"): both.read(key) for key in list(both.keys())} == before
    with pytest.raises(CommandError, match="Set FILE_STORAGE=s3"):
        call_command("move_files", "s3", "--remove")
    settings.FILE_STORAGE = "s3"
    call_command("move_files", "s3", "--remove")
    assert f"0 files copied, {len(before)} there already" in capsys.readouterr().out
    assert files_below(tmp_path) == {}

    call_command("move_files", "folder")

    assert files_below(tmp_path) == before


def test_stopped_move_continues_and_a_wrong_copy_is_sent_again(both, shop_client, tmp_path, capsys):
    for _ in range(3):
        upload(shop_client)
    names = sorted(files_below(tmp_path))
    storages["s3"].save(names[0], ContentFile(b"x" * (tmp_path / names[0]).stat().st_size))
    calls = []

    def cut(model, **more):
        calls.append(model.name)
        if model.name == "PutObject" and calls.count("PutObject") > 2:
            raise EndpointConnectionError(endpoint_url="cut")

    events = storages["s3"].connection.meta.client.meta.events
    events.register("before-call.s3", cut)
    with pytest.raises(CommandError, match="file storage does not respond"):
        call_command("move_files", "s3")
    events.unregister("before-call.s3", cut)

    call_command("move_files", "s3")

    assert "1 files copied, 2 there already" in capsys.readouterr().out
    assert {key.removeprefix("shop/"): both.read(key) for key in list(both.keys())} == files_below(tmp_path)


def test_move_names_missing_files(both, shop_client, tmp_path):
    upload(shop_client)
    (lost,) = files_below(tmp_path)
    (tmp_path / lost).unlink()

    with pytest.raises(CommandError, match=lost):
        call_command("move_files", "s3")


def test_move_without_a_bucket_says_what_to_set(db, settings):
    with pytest.raises(CommandError, match="S3_BUCKET is not set"):
        call_command("move_files", "s3")
