"""Addresses of providers lead to the public Internet, unless the operator names a network."""

import socket
import time
from ipaddress import ip_network

import pytest

from fulfillment.core.errors import Invalid
from production.adapters import http
from production.adapters.http import send_request
from production.adapters.sftp import SftpAdapter, SftpSettings
from production.interface import ProviderRefused, ProviderUnavailable
from production.providers.services import ProviderValues, save_provider
from tests.support.production.jobs import made_job

SFTP = {"username": "press", "password": "secret", "folder": "/in", "host_key": f"SHA256:{'A' * 43}"}
SITEFLOW = {"token": "1", "secret": "s" * 40, "destination": "press"}
INTERNAL = [
    "localhost",
    "press.localhost",
    "printer",
    "press.internal",
    "nas.local",
    "127.0.0.1",
    "10.0.0.8",
    "169.254.169.254",
    "168.63.129.16",
    "100.64.0.1",
    "0.0.0.0",
    "::1",
    "fd00::1",
    "::ffff:127.0.0.1",
]


def values(kind: str, host: str) -> ProviderValues:
    shown = f"[{host}]" if ":" in host else host
    settings = {**SFTP, "host": host} if kind == "sftp" else {**SITEFLOW, "url": f"https://{shown}"}
    return ProviderValues(code="press", name="Press", adapter=kind, settings=settings)


@pytest.mark.django_db
@pytest.mark.parametrize("kind", ["sftp", "siteflow"])
@pytest.mark.parametrize("host", INTERNAL)
def test_internal_addresses_are_refused_when_saved(kind, host):
    with pytest.raises(Invalid) as refused:
        save_provider(values=values(kind, host))
    [fault] = refused.value.faults
    assert fault.pointer == f"/settings/{'host' if kind == 'sftp' else 'url'}"
    assert "public Internet" in fault.message


@pytest.mark.django_db
@pytest.mark.parametrize(
    "url",
    [
        "http://api.example.com",
        "https://me:secret@api.example.com",
        "https://0x7f000001/",
        "https://127.1",
        "https://api.example.com\\@127.0.0.1",
    ],
)
@pytest.mark.parametrize("name", ["url", "order_url"])
def test_misleading_addresses_are_refused_when_saved(name, url):
    known = {**SITEFLOW, "url": "https://api.example.com", name: url}
    with pytest.raises(Invalid):
        save_provider(values=ProviderValues("press", "Press", "siteflow", known))


@pytest.mark.django_db
@pytest.mark.parametrize("kind", ["sftp", "siteflow"])
def test_networks_of_the_operator_are_allowed(settings, kind):
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("10.0.0.0/8")]
    assert save_provider(values=values(kind, "10.0.0.8")).pk


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "169.254.169.254", "::1"])
def test_internal_addresses_are_not_connected_to(host):
    """Checked again when connecting: a name may resolve to another address by then."""
    known = {name: value for name, value in SFTP.items() if name != "password"}
    press = SftpAdapter(SftpSettings({**known, "host": host}).read(), {"password": "secret"})
    with pytest.raises(ProviderRefused, match="public Internet"):
        press.submit(made_job("1001-1"))
    shown = f"[{host}]" if ":" in host else host
    with pytest.raises(ProviderRefused, match="public Internet"):
        send_request("POST", f"https://{shown}/api/order", b"{}", {}, seconds=5)


def test_name_with_many_addresses_takes_no_longer_than_one(monkeypatch):
    entry = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.43.8", 22))
    tried = []

    class Silent(socket.socket):
        def connect(self, address):
            tried.append(address)
            time.sleep(self.gettimeout())
            raise TimeoutError

    monkeypatch.setattr(http.socket, "getaddrinfo", lambda *_, **__: [entry] * 100)
    monkeypatch.setattr(http.socket, "socket", Silent)

    with pytest.raises(ProviderUnavailable):
        http.connect_socket("press.example.com", 22, seconds=0.2)

    assert len(tried) <= 2
