"""The first card of the console's start page: everything that needs attention, with the end of the certificate."""

import socket
import ssl
import threading
import time
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import urlsplit

from cryptography import x509
from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from procrastinate.contrib.django.models import ProcrastinateJob

from fulfillment.core.files.storage import room_for_files
from fulfillment.core.plugins import Attention, DashboardCard, offered_values

HTTPS_PORT = 443
TIMEOUT_SECONDS = 5
KNOWN_FOR_SECONDS = 6 * 3600
MAX_COUNTED = 1000
# The least free share of a disk.
MIN_FREE = 0.10
GIGABYTE = 1 << 30
# Renewals come a month before the end: a certificate that gets this old was not renewed.
CERTIFICATE_DAYS = 14


@dataclass
class Certificate:
    """The certificate of one address; `end` is None until it was read, and if nothing answers.

    It is read in the background, because that must not delay a page; pages show the last known result.
    """

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
        thread = threading.Thread(target=self._read_end, args=(url,), daemon=True)
        thread.start()
        return thread

    def _read_end(self, url: str) -> None:
        try:
            self.end = certificate_end(url)
        except (OSError, ValueError):
            self.end = None


def certificate_end(url: str) -> datetime:
    """Reads the end without verification, so that an expired or private certificate is read as well."""
    address = urlsplit(url)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    host = address.hostname or ""
    with (
        socket.create_connection((host, address.port or HTTPS_PORT), timeout=TIMEOUT_SECONDS) as connection,
        context.wrap_socket(connection, server_hostname=host) as secured,
    ):
        certificate = secured.getpeercert(binary_form=True)
    if not certificate:
        raise ValueError(f"{host} has no certificate")
    return x509.load_der_x509_certificate(certificate).not_valid_after_utc


certificate = Certificate()


def attention_card(request: HttpRequest) -> DashboardCard:
    entries = [entry for offer in offered_values("console", "needs_attention") for entry in offer(request)]
    if getattr(request.user, "is_operator", False):
        entries += [*_failed_jobs(), *_full_disk(), *_ending_certificate()]
    return DashboardCard(
        "admin/dashboard/attention.html", {"entries": sorted(entries, key=lambda entry: entry.position)}, 0
    )


def _failed_jobs() -> list[Attention]:
    count = ProcrastinateJob.objects.filter(status="failed")[: MAX_COUNTED + 1].count()
    if not count:
        return []
    words = ngettext("background job failed", "background jobs failed", count)
    address = f"{reverse('admin:procrastinate_procrastinatejob_changelist')}?status__exact=failed"
    return [Attention(count, words, address, 600, is_at_least=count > MAX_COUNTED)]


def _full_disk() -> list[Attention]:
    """A warning about a full disk with stored files."""
    room = room_for_files()
    if room is None or room[0] > room[1] * MIN_FREE:
        return []
    free, total = room
    percent = free * 100 // total
    detail = _("%(free)s GB are left of %(total)s GB") % {
        "free": number_format(free / GIGABYTE, 1),
        "total": number_format(total / GIGABYTE, 0),
    }
    return [Attention(percent, _("% of the disk for files are free"), reverse("admin:index"), 50, detail)]


def _ending_certificate() -> list[Attention]:
    """Checks the certificate of the public address as clients see it, whichever proxy holds it."""
    if not settings.HTTPS:
        return []
    certificate.refresh(settings.PUBLIC_URL)
    if certificate.end is None:
        return []
    days = (certificate.end - timezone.now()).days
    if days >= CERTIFICATE_DAYS:
        return []
    words = _("days until the certificate of the public address expires")
    if days < 0:
        words = _("days since the certificate of the public address expired")
    return [Attention(abs(days), words, reverse("admin:index"), 40, settings.PUBLIC_URL)]
