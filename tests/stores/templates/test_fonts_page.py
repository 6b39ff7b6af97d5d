from io import BytesIO

import pytest
from django.urls import reverse
from PIL import Image

from tests.factories.accounts import OperatorFactory, UserFactory

pytestmark = pytest.mark.django_db


def test_families_that_are_shipped_are_shown_with_a_specimen(client):
    client.force_login(OperatorFactory())

    page = client.get(reverse("admin:stores_font_changelist")).content.decode()
    picture = client.get(reverse("admin:stores_font_specimen", args=["Playfair Display"]))

    assert all(name in page for name in ("Lato", "Oswald", "Playfair Display", "Your own fonts"))
    assert Image.open(BytesIO(picture.content)).size[0] > 400
    assert "max-age" in picture["Cache-Control"]


def test_specimen_of_another_family_or_for_another_user_is_refused(client):
    address = reverse("admin:stores_font_specimen", args=["Lato"])
    client.force_login(UserFactory())
    assert client.get(address).status_code != 200
    client.force_login(OperatorFactory())

    assert client.get(reverse("admin:stores_font_specimen", args=["Comic Sans"])).status_code == 404
