"""The address of a database on the server of the tests, for other processes."""

from urllib.parse import quote

from django.db import connection


def address_of(name: str | None = None) -> str:
    """Of the test's own database, or of another one. The folder of the server may have spaces and letters in it."""
    known = connection.settings_dict
    user = quote(known["USER"]) + (f":{quote(known['PASSWORD'])}" if known["PASSWORD"] else "")
    port = f"&port={known['PORT']}" if known["PORT"] else ""
    return f"postgresql://{user}@/{name or known['NAME']}?host={quote(known['HOST'], safe='')}{port}"
