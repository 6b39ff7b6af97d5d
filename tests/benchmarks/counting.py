"""How many statements each row takes, counted in this process."""

from typing import Any

from tests.benchmarks.rows import ROWS, sent


def count_statements(facts: dict[str, Any]) -> dict[str, int]:
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    client, found = Client(SERVER_NAME="127.0.0.1"), {}
    for row in ROWS:
        request = sent(row, facts, "ours")
        headers = dict(request.headers)
        if row.conditional:
            headers["If-None-Match"] = client.get(row.path, headers=headers).headers["ETag"]
        body = request.body
        if request.pool:
            # The counted refresh spends the last token of the pool.
            body = f"{headers.pop('X-Form')}&refresh_token={facts['refresh']['ours'].pop()}".encode()
        method, kind = "POST" if row.sends else "GET", headers.pop("Content-Type", "")
        if row.sends == "proof":
            client.generic(method, request.path, body, content_type=kind, headers=headers)
        with CaptureQueriesContext(connection) as queries:
            response = client.generic(method, request.path, body or b"", content_type=kind, headers=headers)
        if response.status_code >= 400:
            raise RuntimeError(f"{row.title}: {response.status_code} {response.content[:300]!r}")
        found[row.title] = len(queries)
    return found
