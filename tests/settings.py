"""Settings of the test suite: the service's own, on an embedded PostgreSQL without durability."""

import os
import tempfile
from pathlib import Path

os.environ.setdefault("FULFILLMENT_MODE", "development")
os.environ["PUBLIC_URL"] = "http://127.0.0.1:8000"
for name in ("SECRET_KEY", "FULFILLMENT_PEPPERS", "FULFILLMENT_ENCRYPTION_KEYS"):
    os.environ.setdefault(name, f"test-only-{name.lower()}-0123456789-abcdefghijklmnop")
if "DATABASE_URL" not in os.environ:
    from fulfillment.local.postgres import ensure_running

    os.environ["DATABASE_URL"] = ensure_running(Path("var/test-postgres").resolve(), durable=False)

from fulfillment.settings import *  # noqa: E402, F403

# Of the tests for their `flush`.
INSTALLED_APPS += ["django_migration_linter", "tests"]  # noqa: F405
# Tests of transactions empty every table afterwards, which the audit trail refuses else. What other tests on the same
# machine hold up may wait longer than a request may; processes that tests start have the limits of the service.
SERVICE_OPTIONS = DATABASES["default"]["OPTIONS"].copy()  # noqa: F405
DATABASES["default"]["OPTIONS"]["connect_timeout"] = 60  # noqa: F405
DATABASES["default"]["OPTIONS"]["options"] += (  # noqa: F405
    " -c fulfillment.may_empty=on -c statement_timeout=240000 -c lock_timeout=120000"
    " -c idle_in_transaction_session_timeout=900000"
)
CONCURRENCY_WAIT_SECONDS = PAGE_WAIT_SECONDS = 60
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
# That of `tests.support.scenario`, whose people sign in by their names alone.
DEFAULT_TENANT_DOMAIN = "print.example"
_media = tempfile.TemporaryDirectory(prefix="fulfillment-media-")
MEDIA_ROOT = Path(_media.name)
PRODUCTION_FOLDERS = [MEDIA_ROOT / "production"]
# Tests look at what is counted in their own transactions.
USAGE_FLUSH_SECONDS = 0
# Tests of the limits set their own; the others come from one address.
ADDRESS_REQUESTS_PER_MINUTE = TOKEN_FAILURES_PER_MINUTE = 1_000_000
PAGES_PER_MINUTE = ADDRESS_PAGES_PER_MINUTE = 1_000_000
