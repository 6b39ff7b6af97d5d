"""The limit of the machine: bare WSGI and psycopg, the same checks of both credentials, the same statements, no
framework.

What a request costs above this is what Django, DRF and our own code cost.
"""

import hashlib
import hmac
import os
import re
import threading
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs

import psycopg

from tests.benchmarks.limit_writes import find_proof, place_order

PEPPER = os.environ["FULFILLMENT_PEPPERS"].split(",")[0].strip().encode()
KEPT = threading.local()

# As in the service, the request is counted on its subscription by the same statement.
CREDENTIALS = """
WITH known AS (
SELECT token.expires, token.scope, token.user_id, token.application_id, application.is_enabled,
       person.is_active, subscription.user_id AS key_user, subscription.application_id AS key_application,
       subscription.requests_per_minute AS quota, 'subscription:' || subscription.id AS bucket
FROM oauth2_provider_accesstoken token
JOIN applications_application application ON application.id = token.application_id
LEFT JOIN accounts_user person ON person.id = token.user_id
LEFT JOIN accounts_subscriptionkey subscription_key ON subscription_key.digest = %s
LEFT JOIN accounts_subscription subscription ON subscription.id = subscription_key.subscription_id
WHERE token.token_checksum = %s
), counted AS (
INSERT INTO accounts_ratewindow AS kept (bucket, started, used)
SELECT bucket, statement_timestamp(), 1 FROM known WHERE bucket IS NOT NULL
ON CONFLICT (bucket) DO UPDATE SET
    used = CASE WHEN excluded.started BETWEEN kept.started - interval '60 s' AND kept.started + interval '60 s'
           THEN kept.used + 1 ELSE 1 END,
    started = CASE WHEN excluded.started BETWEEN kept.started - interval '60 s' AND kept.started + interval '60 s'
              THEN kept.started ELSE excluded.started END
RETURNING kept.used
)
SELECT * FROM known LEFT JOIN counted ON true
"""
ASSOCIATED = """
EXISTS (SELECT FROM accounts_role role
        WHERE role.application_id = %s AND role.store_id = store.id AND role.user_id IS NULL)
"""
STORE = f"SELECT store.rendering FROM stores_store store WHERE store.external_id = %s AND {ASSOCIATED}"
PRODUCTS = f"""
SELECT '[' || (SELECT string_agg(product.rendering, ',' ORDER BY product.position, product.id)
               FROM stores_product product WHERE product.store_id = store.id AND product.is_active) || ']'
FROM stores_store store WHERE store.external_id = %s AND {ASSOCIATED}
"""

ORDERS = f"""
SELECT string_agg(o.rendering, ',' ORDER BY o.created, o.id), (
    SELECT sum(orders) FROM stores_ordertally WHERE store_id = store.id)
FROM stores_store store, LATERAL (
    SELECT created, id, rendering FROM stores_order
    WHERE store_id = store.id AND NOT is_test ORDER BY created, id LIMIT %s) o
WHERE store.external_id = %s AND {ASSOCIATED.replace("IS NULL)", "IS NULL AND role.grant = 'Order.All.Read')")}
GROUP BY store.id
"""
TAG = f"""
SELECT md5(concat_ws('/', store.id, store.created, store.catalog_version, 'rendering'))
FROM stores_store store WHERE store.external_id = %s AND {ASSOCIATED}
"""
POPULATIONS = """
SELECT '[' || string_agg(population.body, ',' ORDER BY asked.place) || ']'
FROM unnest((SELECT %s::text[])) WITH ORDINALITY asked(code, place)
JOIN delivery_livedataset pointer ON pointer.id = 1
JOIN delivery_population population
    ON population.dataset_id = pointer.dataset_id AND population.postal_code = asked.code
"""
POSTAL_CODE = re.compile("[0-9]{5}")
UNCHANGED = b""
EXPORTS = "Order.All.Read"


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    path = environ["PATH_INFO"]
    if path == "/healthz":
        start_response("200 OK", [("Content-Length", "2")])
        return [b"ok"]
    connection = _connection()
    caller = _caller(connection, environ)
    parts = path.removeprefix("/api/v1/").split("/")
    status, body = (
        ("401 Unauthorized", b"") if caller is None else _answer(connection, environ, parts, *caller)
    )
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    start_response(status, headers if body else headers[1:] if status[0] != "3" else [])
    return [body]


def _answer(
    connection: Any, environ: dict[str, Any], parts: list[str], caller: Any, scopes: list[str]
) -> tuple[str, bytes]:
    body: bytes | None
    if environ["REQUEST_METHOD"] == "POST":
        sent = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
        if parts[-1] == "order" and "Order.Self.Write" in scopes:
            body = place_order(connection, parts[1], caller, sent)
        else:
            body = find_proof(connection, parts[1], parts[3], caller, sent)
    elif parts[0] == "delivery":
        body = _populations(connection, environ["QUERY_STRING"])
    elif parts[-1] == "exportview":
        body = _orders(connection, parts[1], caller, environ["QUERY_STRING"]) if EXPORTS in scopes else None
    else:
        known = environ.get("HTTP_IF_NONE_MATCH", "")
        body = _body(connection, parts, caller, known)
        if known and body == UNCHANGED:
            return "304 Not Modified", b""
    return ("200 OK", body) if body is not None else ("403 Forbidden", b"")


def _connection() -> Any:
    if not hasattr(KEPT, "connection"):
        KEPT.connection = psycopg.connect(os.environ["DATABASE_URL"], autocommit=True)
    return KEPT.connection


def _caller(connection: Any, environ: dict[str, Any]) -> Any:
    """The application that calls and its scopes, after the checks the service makes."""
    scheme, _, token = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
    key = environ.get("HTTP_OCP_APIM_SUBSCRIPTION_KEY", "")
    if scheme != "Bearer" or not key:
        return None
    digest = hmac.digest(PEPPER, key.encode(), "sha256").hex()
    checksum = hashlib.sha256(token.encode()).hexdigest()
    row = connection.execute(CREDENTIALS, (digest, checksum), prepare=True).fetchone()
    if row is None:
        return None
    expires, scope, user, calling, enabled, active, key_user, key_application, quota, _, used = row
    valid = expires > datetime.now(UTC) and enabled and (user is None or active) and used <= quota
    owned = (key_user is not None and key_user == user) or key_application == calling
    return (calling, scope.split()) if valid and owned else None


def _populations(connection: Any, query: str) -> bytes:
    codes = parse_qs(query)["postalCodes"]
    if not all(POSTAL_CODE.fullmatch(code) for code in codes):
        raise ValueError("not a postal code")
    body: str = connection.execute(POPULATIONS, (codes,), prepare=True).fetchone()[0]
    return body.encode()


def _orders(connection: Any, store: str, caller: Any, query: str) -> bytes | None:
    take = int(parse_qs(query).get("take", ["100"])[0])
    row = connection.execute(ORDERS, (take, store, caller), prepare=True).fetchone()
    return f"[{row[0]}]".encode() if row else None


def _body(connection: Any, parts: list[str], caller: Any, known: str) -> bytes | None:
    if known:
        row = connection.execute(TAG, (parts[1], caller), prepare=True).fetchone()
        return UNCHANGED if row and f'W/"{row[0]}"' == known else None
    statement = STORE if len(parts) == 2 else PRODUCTS
    row = connection.execute(statement, (parts[1], caller), prepare=True).fetchone()
    return row[0].encode() if row else None
