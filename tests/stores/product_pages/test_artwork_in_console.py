"""Staff check a customer's PDF against a product in the console."""

from decimal import Decimal

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from accounts.models import Role
from accounts.permissions import Permission
from stores.proofs.models import Asset
from tests.factories.orders import make_product
from tests.support.printing.document_making import document

pytestmark = pytest.mark.django_db


@pytest.fixture
def leaflet(world):
    size = {"WidthMM": Decimal("88.9"), "HeightMM": Decimal("50.8")}
    return make_product(world.associated, "leaflet", PageCount=1, **size)


@pytest.fixture
def staff(world, client, leaflet):
    Role.objects.create(user=world.outsider, store=leaflet.store, grant=Permission.ORDER_ALL_WRITE)
    client.force_login(world.outsider)
    return client


def send(client, product, content):
    file = SimpleUploadedFile("customer.pdf", content, content_type="application/pdf")
    address = reverse("admin:stores_product_artwork_asset", args=[product.pk])
    return client.post(address, {"file": file} if content else {}, follow=True)


def test_staff_of_the_store_see_findings_and_pages(staff, leaflet):
    page = send(staff, leaflet, document(bleed=0)).content.decode()

    assert "This PDF cannot be printed yet" in page
    assert "too little bleed" in page
    [picture] = [address for address in page.split('"') if address.endswith("-0.png?as=me")]
    assert staff.get(picture)["Content-Type"] == "image/png"


@pytest.mark.parametrize(
    ("content", "words"), [(b"nothing", "The file is not a PDF."), (b"", "Choose a PDF first.")]
)
def test_what_cannot_be_checked_is_refused_with_a_sentence(staff, leaflet, content, words):
    assert words in send(staff, leaflet, content).content.decode()
    assert not Asset.objects.exists()


def test_refusal_of_a_file_is_in_the_language_of_the_page(staff, leaflet):
    staff.defaults["HTTP_ACCEPT_LANGUAGE"] = "de"

    assert "Wählen Sie zuerst ein PDF." in send(staff, leaflet, b"").content.decode()
    assert "Die Datei ist kein PDF." in send(staff, leaflet, b"nothing").content.decode()


def test_staff_of_another_store_do_not_find_the_page(world, client, leaflet):
    Role.objects.create(user=world.outsider, store=world.unassociated, grant=Permission.ORDER_ALL_WRITE)
    client.force_login(world.outsider)

    assert send(client, leaflet, document()).status_code == 404
    assert not Asset.objects.exists()
