"""The certificate of the public address is read as clients see it, and named before it ends."""

import socket
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from django.test import RequestFactory

from fulfillment.site import attention
from fulfillment.site.attention import Certificate
from tests.support.patience import PATIENCE


def write_certificate(file: Path, end: datetime) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(end - timedelta(days=90))
        .not_valid_after(end)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file.write_bytes(private + made.public_bytes(pem))
    return file


@pytest.fixture
def address(request, tmp_path) -> Iterator[str]:
    """A server whose certificate ends after the days of the parameter."""
    end = datetime.now(UTC) + timedelta(days=request.param, hours=1)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(write_certificate(tmp_path / "server.pem", end))
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with context.wrap_socket(connection, server_side=True):
                pass

        thread = Thread(target=serve, daemon=True)
        thread.start()
        yield f"https://127.0.0.1:{listening.getsockname()[1]}"
        thread.join(5)


def entries(world) -> list[tuple[int, str]]:
    request = RequestFactory().get("/admin/")
    request.user = world.operator
    card = attention.attention_card(request)
    return [(entry.count, entry.words) for entry in card.context["entries"] if "certificate" in entry.words]


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        (30, []),
        (5, [(5, "days until the certificate of the public address expires")]),
        (-4, [(4, "days since the certificate of the public address expired")]),
    ],
    indirect=["address"],
)
def test_certificate_that_ends_soon_needs_attention(world, settings, monkeypatch, address, expected):
    settings.HTTPS, settings.PUBLIC_URL = True, address
    certificate = Certificate()
    monkeypatch.setattr(attention, "certificate", certificate)

    thread = certificate.refresh(address)
    thread.join(PATIENCE)

    assert entries(world) == expected
    assert certificate.refresh(address) is None


def test_address_that_does_not_answer_delays_and_claims_nothing(world, settings, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        closed = f"https://127.0.0.1:{listening.getsockname()[1]}"
    settings.HTTPS, settings.PUBLIC_URL = True, closed
    monkeypatch.setattr(attention, "certificate", Certificate())

    assert entries(world) == []
