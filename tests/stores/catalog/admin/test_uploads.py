"""Importing and exporting catalogs in the console."""

import json
from contextlib import closing

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils.html import escape

from fulfillment.core.concurrency_limits import FILES
from fulfillment.core.errors import ServiceBusy
from stores.catalog.models import CatalogUpload, Product
from stores.catalog.services.uploads import TASK
from tests.factories.stores import make_product
from tests.support.pages import text
from tests.support.servers.queued_jobs import work_off

LIST = "/admin/stores/catalogupload/"


@pytest.fixture
def operator(world, client):
    make_product(world.associated, ID="card", Name="Card")
    client.force_login(world.operator)
    return client


def exported(client, store) -> dict:
    response = client.get(f"/admin/stores/store/{store.pk}/catalog.json")
    assert response.headers["Content-Disposition"] == f'attachment; filename="{store.external_id}.json"'
    return json.loads(b"".join(response.streaming_content))


def send(client, content, **values):
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    return client.post(f"{LIST}add/", {"file": SimpleUploadedFile("spring.json", raw), **values})


def checked(client, content, **values) -> CatalogUpload:
    response = send(client, content, **values)
    upload = CatalogUpload.objects.latest("pk")
    assert response.url == f"{LIST}{upload.pk}/change/"
    work_off(TASK)
    return upload


def test_catalog_is_exported_changed_checked_and_imported(world, operator):
    catalog = exported(operator, world.associated)
    product = catalog["Stores"][0]["Products"][0]
    product["Name"] = "<b>Bolder card</b>"

    response = send(operator, catalog, store="associated")
    upload = CatalogUpload.objects.get()
    waiting = text(operator.get(response.url))
    assert f'data-progress-url="{LIST}{upload.pk}/progress/"' in waiting
    assert "No worker is running: start one" in waiting
    assert operator.get(f"{LIST}{upload.pk}/progress/").json()["is_under_way"] is True
    work_off(TASK)

    page = text(operator.get(response.url))
    assert "What the import will change" in page
    assert f"<td>{escape(product['Name'])} <small" in page
    assert "<td>changed</td> <td>Name</td>" in page
    assert "products changed: 1" in text(operator.get(LIST))
    assert Product.objects.get(external_id="card").name == "Card"

    done = operator.post(f"{LIST}{upload.pk}/import/", follow=True)
    assert "The catalog is being imported." in text(done)
    work_off(TASK)
    assert "What was imported" in text(operator.get(response.url))
    assert Product.objects.get(external_id="card").name == product["Name"]
    assert operator.get(f"{LIST}{upload.pk}/progress/").json() == {
        "percent": 100,
        "text": "Imported",
        "is_under_way": False,
    }
    history = text(
        operator.get(f"/admin/stores/product/{Product.objects.get(external_id='card').pk}/history/")
    )
    assert "Changed by operator" in history


def test_file_that_changes_nothing_offers_no_import(world, operator):
    upload = checked(operator, exported(operator, world.associated))

    page = text(operator.get(f"{LIST}{upload.pk}/change/"))

    assert "Nothing: the catalog already has everything in this file." in page
    assert '<button class="console-button console-primary" disabled> Import it now </button>' in page


def test_errors_are_listed_with_their_places(world, operator):
    catalog = exported(operator, world.associated)
    catalog["Stores"][0]["Products"][0] |= {"MinimumQty": "<script>", "DefaultQty": None}

    upload = checked(operator, catalog)

    page = text(operator.get(f"{LIST}{upload.pk}/change/"))
    assert "2 errors: nothing was imported" in page
    assert "<code>/Stores/0/Products/0/MinimumQty</code>" in page
    assert "&lt;script&gt;" in page
    assert "Import it now" not in page


def test_typed_values_stay_when_the_upload_is_refused(operator):
    empty = send(operator, b"", store="associated")
    unknown = send(operator, b"{}", store="nowhere")

    assert 'value="associated"' in text(empty)
    assert "The submitted file is empty." in text(empty)
    assert 'value="nowhere"' in text(unknown)
    assert "No store has this StoreID." in text(unknown)
    assert not CatalogUpload.objects.exists()
    assert 'value="associated"' in text(operator.get(f"{LIST}add/?store=associated"))


def test_discarding_is_confirmed_once(world, operator):
    upload = checked(operator, exported(operator, world.associated))
    address = f"{LIST}{upload.pk}/discard/"

    requested = text(operator.post(address))
    assert "Discard the file spring.json? Nothing was imported from it." in requested
    assert CatalogUpload.objects.exists()

    response = operator.post(address, {"confirmed": "1"}, follow=True)
    assert "was discarded" in text(response)
    assert not CatalogUpload.objects.exists()


def test_imported_upload_is_neither_imported_again_nor_discarded(world, operator):
    upload = checked(operator, exported(operator, world.associated))
    CatalogUpload.objects.update(state="imported")

    for name, values in (("import", {}), ("check", {}), ("discard", {"confirmed": "1"})):
        refused = operator.post(f"{LIST}{upload.pk}/{name}/", values, follow=True)
        assert "is being processed, or was already imported" in text(refused)
    upload.refresh_from_db()
    assert upload.state == "imported"


def test_imports_are_for_those_who_change_stores_and_sent_by_forms(world, operator):
    upload = checked(operator, exported(operator, world.associated))
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(world.operator)
    for name in ("import", "check", "discard"):
        assert operator.get(f"{LIST}{upload.pk}/{name}/").status_code == 405
        assert strict.post(f"{LIST}{upload.pk}/{name}/", {"confirmed": "1"}).status_code == 403

    operator.force_login(world.user)
    for path in ("", "add/", f"{upload.pk}/change/", f"{upload.pk}/progress/"):
        assert operator.get(LIST + path).status_code == 403
    for name in ("import", "check", "discard"):
        assert operator.post(f"{LIST}{upload.pk}/{name}/", {"confirmed": "1"}).status_code == 403
    assert send(operator, b"{}").status_code == 403
    upload.refresh_from_db()
    assert upload.state == "checked"


def test_staff_export_their_store_and_no_other(world, operator):
    make_product(world.unassociated)
    operator.force_login(world.user)

    assert [store["StoreID"] for store in exported(operator, world.associated)["Stores"]] == ["associated"]
    everything = b"".join(operator.get("/admin/stores/store/catalog.json").streaming_content)
    assert [store["StoreID"] for store in json.loads(everything)["Stores"]] == ["associated"]
    assert operator.get(f"/admin/stores/store/{world.unassociated.pk}/catalog.json").status_code == 404
    assert "Import catalog" not in text(operator.get(f"/admin/stores/store/{world.associated.pk}/change/"))

    operator.force_login(world.outsider)
    assert operator.get("/admin/stores/store/catalog.json").status_code in {302, 403}
    assert operator.get(f"/admin/stores/store/{world.associated.pk}/catalog.json").status_code in {302, 403}


def test_operators_export_every_store(world, operator):
    everything = json.loads(b"".join(operator.get("/admin/stores/store/catalog.json").streaming_content))

    assert [store["StoreID"] for store in everything["Stores"]] == ["associated", "unassociated", "demo"]


def test_export_counts_until_it_is_sent(operator, settings):
    settings.FILES_CONCURRENCY, settings.CONCURRENCY_WAIT_SECONDS = 1, 0
    response = operator.get("/admin/stores/store/catalog.json")

    with pytest.raises(ServiceBusy), FILES.slot("another"):
        pytest.fail("took the slot of a file that is being sent")

    assert len(b"".join(response.streaming_content)) == int(response["Content-Length"])
    with FILES.slot("another"):
        assert response["Content-Disposition"] == 'attachment; filename="stores.json"'


def test_export_is_made_in_a_slot(operator, settings):
    settings.FILES_CONCURRENCY, settings.CONCURRENCY_WAIT_SECONDS = 1, 0

    with closing(FILES.stream(iter(()), "another")):
        response = operator.get("/admin/stores/store/catalog.json", follow=True)

    assert "The service already has as many files to read or write in progress as it accepts." in text(
        response
    )
    assert b"".join(operator.get("/admin/stores/store/catalog.json").streaming_content)


def test_errors_of_a_file_are_in_the_readers_language(operator):
    upload = checked(operator, {"Format": "other"})

    german = {"Accept-Language": "de"}
    assert "1 Fehler" in text(operator.get(LIST, headers=german))
    page = text(operator.get(f"{LIST}{upload.pk}/change/", headers=german))
    assert escape('Format muss zuerst kommen und "store-fulfillment-catalog" sein.') in page
