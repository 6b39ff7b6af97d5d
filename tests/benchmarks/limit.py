"""The limit of the machine: bare WSGI and psycopg, the same checks of both credentials, the same reads, no framework.

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

PEPPER = os.environ["FULFILLMENT_PEPPERS"].split(",")[0].strip().encode()
KEPT = threading.local()

CREDENTIALS = """
SELECT token.expires, token.scope, token.user_id, token.application_id, application.is_enabled,
       person.is_active, subscription.user_id, subscription.application_id
FROM oauth2_provider_accesstoken token
JOIN applications_application application ON application.id = token.application_id
LEFT JOIN accounts_user person ON person.id = token.user_id
LEFT JOIN accounts_subscriptionkey subscription_key ON subscription_key.digest = %s
LEFT JOIN accounts_subscription subscription ON subscription.id = subscription_key.subscription_id
WHERE token.token_checksum = %s
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
SELECT string_agg(o.rendering, ',' ORDER BY o.position), (
    SELECT position FROM stores_order WHERE store_id = store.id ORDER BY position DESC LIMIT 1)
FROM stores_store store, LATERAL (
    SELECT position, rendering FROM stores_order WHERE store_id = store.id ORDER BY position LIMIT 100) o
WHERE store.external_id = %s AND {ASSOCIATED} GROUP BY store.id
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


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    path = environ["PATH_INFO"]
    if path == "/healthz":
        start_response("200 OK", [("Content-Length", "2")])
        return [b"ok"]
    connection = _connection()
    caller = _caller(connection, environ)
    parts = path.removeprefix("/api/v1/").split("/")
    if caller is None:
        body = None
    elif parts[0] == "delivery":
        body = _populations(connection, environ["QUERY_STRING"])
    else:
        body = _body(connection, parts, caller, environ.get("HTTP_IF_NONE_MATCH", ""))
    if body == UNCHANGED:
        start_response("304 Not Modified", [])
        return [b""]
    if body is None:
        start_response("401 Unauthorized", [("Content-Length", "0")])
        return [b""]
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    start_response("200 OK", headers)
    return [body]


def _connection() -> Any:
    if not hasattr(KEPT, "connection"):
        KEPT.connection = psycopg.connect(os.environ["DATABASE_URL"], autocommit=True)
    return KEPT.connection


def _caller(connection: Any, environ: dict[str, Any]) -> Any:
    """The application that calls, after the checks the service makes."""
    scheme, _, token = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
    key = environ.get("HTTP_OCP_APIM_SUBSCRIPTION_KEY", "")
    if scheme != "Bearer" or not key:
        return None
    digest = hmac.digest(PEPPER, key.encode(), "sha256").hex()
    checksum = hashlib.sha256(token.encode()).hexdigest()
    row = connection.execute(CREDENTIALS, (digest, checksum), prepare=True).fetchone()
    if row is None:
        return None
    expires, scope, user, calling, enabled, active, key_user, key_application = row
    valid = expires > datetime.now(UTC) and enabled and (user is None or active) and scope.split()
    owned = (key_user is not None and key_user == user) or key_application == calling
    return calling if valid and owned else None


def _populations(connection: Any, query: str) -> bytes:
    codes = parse_qs(query)["postalCodes"]
    if not all(POSTAL_CODE.fullmatch(code) for code in codes):
        raise ValueError("not a postal code")
    body: str = connection.execute(POPULATIONS, (codes,), prepare=True).fetchone()[0]
    return body.encode()


def _body(connection: Any, parts: list[str], caller: Any, known: str) -> bytes | None:
    if known:
        row = connection.execute(TAG, (parts[1], caller), prepare=True).fetchone()
        return UNCHANGED if row and f'W/"{row[0]}"' == known else None
    statement = {2: STORE, 3: PRODUCTS, 4: ORDERS}.get(len(parts))
    row = statement and connection.execute(statement, (parts[1], caller), prepare=True).fetchone()
    if row and statement is ORDERS:
        return f"[{row[0]}]".encode()
    return row[0].encode() if row else None
