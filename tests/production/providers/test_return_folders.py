"""Each provider has a return folder of its own: what one has read there, another one never sees."""

from dataclasses import replace
from ipaddress import ip_network
from pathlib import Path

import pytest

from fulfillment.core.errors import Invalid
from production.providers.models import Provider
from production.providers.services import ProviderValues, save_provider
from tests.factories.production import make_provider

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def places(tmp_path, settings) -> Path:
    settings.PRODUCTION_FOLDERS = [tmp_path]
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]
    return tmp_path


def test_return_folder_of_another_provider_is_refused(places):
    first, shared = make_provider(places), {"return_folder": str(places / "press" / "out")}

    with pytest.raises(Invalid, match="Press reads this one already") as refused:
        make_provider(places, "other", settings=shared)
    assert refused.value.faults[0].pointer == "/settings/return_folder"

    values = ProviderValues(first.code, "Renamed", first.adapter, first.settings)
    assert save_provider(values=values, provider=first).name == "Renamed"
    Provider.objects.filter(pk=first.pk).update(is_enabled=False)
    assert (
        make_provider(places, "other", settings=shared).settings["return_folder"] == shared["return_folder"]
    )


def test_provider_that_shares_its_return_folder_can_be_disabled(places):
    first, second = make_provider(places), make_provider(places, "second")
    # As it was saved by an earlier release.
    Provider.objects.filter(pk=second.pk).update(settings=first.settings)
    values = ProviderValues(second.code, second.name, second.adapter, first.settings, is_enabled=False)
    assert not save_provider(values=values, provider=second).is_enabled

    with pytest.raises(Invalid, match="Press reads this one already"):
        save_provider(values=replace(values, is_enabled=True), provider=second)


def test_return_folders_of_servers_may_have_the_same_path():
    settings = {
        "host": "127.0.0.1",
        "host_key": f"SHA256:{'A' * 43}",
        "username": "press",
        "password": "secret",
        "folder": "/in",
        "return_folder": "/out",
    }
    values = ProviderValues("first", "First", "sftp", settings)
    save_provider(values=values)

    with pytest.raises(Invalid, match="First reads this one already"):
        save_provider(values=replace(values, code="second"))
    # Each user of a server may see folders of their own, and each port another server.
    for code, other in (
        ("second", {"host": "127.0.0.2"}),
        ("user", {"username": "bar"}),
        ("port", {"port": 23}),
    ):
        save_provider(values=replace(values, code=code, settings={**settings, **other}))
    save_provider(values=replace(values, code="third", settings={**settings, "return_folder": ""}))
