"""A provider whose secrets no encryption key opens: its page says so, and they can be entered again."""

import pytest
from cryptography.fernet import Fernet
from django.urls import reverse

from fulfillment.core.errors import Conflict
from production.providers.models import Provider
from production.providers.selectors import postback_url, provider_secrets
from production.providers.services import ProviderValues, check_provider, save_provider
from tests.factories.production import make_provider
from tests.support.scenario import sign_in

pytestmark = pytest.mark.django_db
SETTINGS = {
    "host": "sftp.example.com",
    "port": 22,
    "host_key": "SHA256:" + "A" * 43,
    "username": "press",
    "password": "quiet-otter",
    "folder": "/in",
    "layout": "job_folder",
    "tickets": "both",
    "time_limit": 300,
}
FORM = {"name": "Shop", "code": "shop", "is_enabled": "on", "setting_gang_mode": "off"}


@pytest.fixture
def provider(settings) -> Provider:
    provider = save_provider(
        values=ProviderValues(code="shop", name="Shop", adapter="sftp", settings=SETTINGS)
    )
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    return provider


def test_test_of_a_provider_says_that_its_secrets_cannot_be_read(provider):
    with pytest.raises(Conflict, match="No encryption key opens the stored secrets") as refusal:
        check_provider(provider=provider)
    assert refusal.value.code == "secrets_unreadable"


def test_secrets_that_no_key_opens_are_entered_again(world, client, provider):
    sign_in(client, world.operator)
    address = reverse("admin:production_provider_change", args=[provider.pk])
    page = client.get(address)
    assert "No encryption key opens this address." in page.content.decode()
    form = page.context["adminform"].form
    unset = {name: value for name, value in form.initial.items() if value is not None}
    shown = {field.html_name: field.value() for field in form if field.value() not in (None, False)}
    assert "setting_password" not in shown

    client.post(address, {**unset, **shown, "setting_password": "loud-otter"})
    assert provider_secrets(Provider.objects.get())["password"] == "loud-otter"
    client.post(reverse("admin:production_provider_rotate", args=[provider.pk]), {"confirmed": "yes"})
    assert postback_url(Provider.objects.get()) in client.get(address).content.decode()


def test_provider_without_secrets_works_again_once_it_is_saved(settings, tmp_path):
    settings.PRODUCTION_FOLDERS = [tmp_path]
    folder = make_provider(tmp_path)
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    with pytest.raises(Conflict, match="No encryption key opens the stored secrets"):
        check_provider(provider=folder)

    values = ProviderValues(folder.code, folder.name, folder.adapter, folder.settings)
    assert "Files can be written" in check_provider(provider=save_provider(values=values, provider=folder))
