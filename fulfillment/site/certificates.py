"""When the certificate of the public address ends.

The check runs in the background, because it must not delay a page; pages show the last known result.
"""

import socket
import ssl
import threading
import time
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import urlsplit

from cryptography import x509

HTTPS_PORT = 443
TIMEOUT_SECONDS = 5
KNOWN_FOR_SECONDS = 6 * 3600


@dataclass
class Certificate:
    """The certificate of one address; `end` is None until it was read, and if nothing answers."""

    end: datetime | None = None
    _tried: float | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def refresh(self, url: str) -> threading.Thread | None:
        """Starts to read it, unless it was tried a short time ago."""
        with self._lock:
            now = time.monotonic()
            if self._tried is not None and now - self._tried < KNOWN_FOR_SECONDS:
                return None
            self._tried = now
        thread = threading.Thread(target=self._read, args=(url,), daemon=True)
        thread.start()
        return thread

    def _read(self, url: str) -> None:
        try:
            self.end = certificate_end(url)
        except (OSError, ValueError):
            self.end = None


def certificate_end(url: str) -> datetime:
    """Without verification, so that an expired or private certificate is read as well."""
    address = urlsplit(url)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    host = address.hostname or ""
    with (
        socket.create_connection((host, address.port or HTTPS_PORT), timeout=TIMEOUT_SECONDS) as connection,
        context.wrap_socket(connection, server_hostname=host) as secured,
    ):
        found = secured.getpeercert(binary_form=True)
    if not found:
        raise ValueError(f"{host} has no certificate")
    return x509.load_der_x509_certificate(found).not_valid_after_utc
