"""The variables of a production machine whose database is not there, and the names of all that there are."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SECRETS = {
    "SECRET_KEY": "7hX2-9sKq_4vLm1pZr8wTn5bYc3jGd6fQe0aUi2oPx9yRk4tVh7mNs1zWb8c",
    "FULFILLMENT_PEPPERS": "pQ4x-8mZt_2vKs6nRb1wYc9jLd5gHf3eTa7uXi0oPy",
    "FULFILLMENT_ENCRYPTION_KEYS": "Zk3v-6tXr_9pLm2sQb8wNc4jYd1gHf7eRa5uTi0oPx",
}
PRODUCTION = {
    **SECRETS,
    "PUBLIC_URL": "https://print.example",
    "BEHIND_TLS_PROXY": "1",
    "MEDIA_ROOT": "/opt/fulfillment/var/media",
    "DATABASE_URL": "postgresql://fulfillment:word@127.0.0.1:5999/fulfillment",
    "DJANGO_SETTINGS_MODULE": "fulfillment.settings",
}


def setting_names() -> set[str]:
    """The variables in the tables of docs/operating/settings.md, without those of a development machine."""
    page = (
        (ROOT / "docs" / "operating" / "settings.md")
        .read_text("utf-8")
        .partition("## Development machine")[0]
    )
    rows = re.findall(r"^\| (`[A-Z0-9_`, ]+`) \|", page, re.MULTILINE)
    return {name for row in rows for name in re.findall(r"[A-Z0-9_]+", row)}
