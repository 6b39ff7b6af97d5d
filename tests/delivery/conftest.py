import os
import sys
from urllib.parse import quote, urlencode

import pytest
from django.db import connection


@pytest.fixture
def child_environment(settings, transactional_db) -> dict[str, str]:
    """For a process that works on the database of the tests."""
    database = connection.settings_dict
    credentials = quote(database["USER"]) + (
        f":{quote(database['PASSWORD'])}" if database["PASSWORD"] else ""
    )
    place = {"host": database["HOST"], **({"port": database["PORT"]} if database["PORT"] else {})}
    settings.DATABASE_URL = f"postgresql://{credentials}@/{database['NAME']}?{urlencode(place, safe='/')}"
    return {
        **os.environ,
        "DATABASE_URL": settings.DATABASE_URL,
        "DJANGO_SETTINGS_MODULE": "fulfillment.settings",
        "MEDIA_ROOT": str(settings.MEDIA_ROOT),
        "PYTHONPATH": os.pathsep.join(path for path in [str(settings.BASE_DIR), *sys.path] if path),
    }
