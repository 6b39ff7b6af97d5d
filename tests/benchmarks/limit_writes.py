"""What the limit does for writes: the statements of the service one after another, and the answer from a dictionary."""

import base64
import hashlib
import hmac
import os
import time
import uuid
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
from psycopg.types.json import Jsonb

REQUIRED = ("Name", "Address1", "City", "PostalCode", "CountryCode")
LOCKS = 0x0DE5
GRANTED = """
EXISTS (SELECT FROM accounts_role role WHERE role.application_id = %s AND role.store_id = store.id
        AND role.user_id IS NULL AND role.grant IN ('Order.Self.Write', 'Order.All.Write'))
"""
STORE = f"""
SELECT store.id, store.currency, store.hold_window_minutes FROM stores_store store
WHERE store.external_id = %s AND {GRANTED}
"""
PRICES = """
SELECT product.id, product.external_id, product.name, product.version, product.minimum_quantity,
       product.maximum_quantity, product.quantity_increment, product.delivery_method,
       (SELECT price.location_type FROM stores_deliveredprice price
        WHERE price.product_id = product.id AND price.is_default),
       (SELECT json_agg(json_build_array(price.delivery_method_code, price.location_type, price.price::text,
                                         price.description) ORDER BY price.position)
        FROM stores_deliveredprice price
        WHERE price.product_id = product.id AND price.country_code = %s)::text,
       (SELECT json_agg(json_build_array(speed.days, speed.is_default) ORDER BY speed.position)
        FROM stores_productionspeed speed WHERE speed.product_id = product.id)::text,
       EXISTS (SELECT FROM stores_templatefield field WHERE field.product_id = product.id)
FROM stores_product product
WHERE product.store_id = %s AND product.external_id = ANY(%s) AND product.is_active
"""
PLACE = """
SELECT nextval('stores_order_number'),
       greatest(clock_timestamp(), (SELECT created FROM stores_order WHERE store_id = %s AND NOT is_test
                                    ORDER BY created DESC LIMIT 1) + interval '1 microsecond')
"""
ORDER = """
INSERT INTO stores_order (id, number, store_id, application_id, status, sequence, created, updated,
    currency, items_total, delivery_total, total, delivery_method_code, production_days, earliest_delivery,
    latest_delivery, option_id, recipient, product_ids, item_count, total_quantity, tracking_numbers, metadata,
    cancellable_until, cancellation, cancellation_reason, cancellation_note, rendering)
VALUES (%s, %s, %s, %s, 10, 1, %s, %s, %s, %s, 0, %s, %s, %s, %s, %s, '', %s, %s, 1, %s, '{}', '{}', %s,
        '', '', '', %s)
"""
ITEM = """
INSERT INTO stores_orderitem (order_id, position, item_key, product_id, product_external_id,
    product_name, product_version, quantity, unit_price, line_total, print_file, print_sha256, print_bytes)
VALUES (%s, 0, '1', %s, %s, %s, %s, %s, %s, %s, '', '', 0)
"""
TALLY = """
INSERT INTO stores_ordertally AS tally (store_id, application_id, status, orders) VALUES (%s, %s, 10, 1)
ON CONFLICT (store_id, application_id, status) DO UPDATE SET orders = tally.orders + 1
"""
HISTORY = """
INSERT INTO stores_orderhistory (order_id, sequence, status, timestamp, actor_kind, note)
VALUES (%s, 1, 10, %s, 'Application', '')
"""
EVENT = """
INSERT INTO applications_event (event_id, application_id, store_id, type, timestamp, data)
VALUES (%s, %s, %s, 'order.received', %s, %s)
"""
PRODUCT = """
SELECT product.id, product.version, product.template IS NOT NULL,
       (SELECT coalesce(string_agg(font.sha256, ',' ORDER BY font.id), '') FROM stores_font font)
FROM stores_store store JOIN stores_product product ON product.store_id = store.id AND product.is_active
WHERE store.external_id = %s AND product.external_id = %s AND EXISTS (
    SELECT FROM accounts_role role
    WHERE role.application_id = %s AND role.store_id = store.id AND role.user_id IS NULL)
"""
PROOF = "SELECT digest, sizes, messages::text, last_used FROM stores_proof WHERE digest = %s"


def place_order(connection: Any, store_id: str, caller: Any, sent: bytes) -> bytes | None:
    """An order of one item; None where it breaks a rule or the store is closed to the caller."""
    order = orjson.loads(sent)
    recipient, [item] = order["Recipient"], order["Items"]
    if not all(recipient.get(name) for name in REQUIRED):
        return None
    store = connection.execute(STORE, (store_id, caller), prepare=True).fetchone()
    asked = (recipient["CountryCode"], store[0], [item["ProductID"]])
    product = connection.execute(PRICES, asked, prepare=True).fetchone() if store else None
    if product is None or (item["Quantity"] - product[4]) % product[6] or item["Quantity"] > product[5]:
        return None
    with connection.transaction():
        return _write(connection, store, store_id, caller, recipient, item, product)


def _write(
    connection: Any, store: Any, store_id: str, caller: Any, recipient: Any, item: Any, product: Any
) -> bytes:
    method, _, price, _ = orjson.loads(product[9])[0]
    days = next(days for days, usual in orjson.loads(product[10]) if usual)
    total = Decimal(price) * item["Quantity"]
    run = lambda statement, *values: connection.execute(statement, values, prepare=True)  # noqa: E731
    run("SELECT pg_advisory_xact_lock(%s::int, %s::int)", LOCKS, store[0])
    number, created = run(PLACE, store[0]).fetchone()
    order_id = uuid.uuid4()
    dates = [(created + timedelta(days=days + more)).date() for more in (3, 5)]
    until = created + timedelta(minutes=store[2])
    row = {
        "OrderID": str(order_id),
        "OrderNumber": str(number),
        "StoreID": store_id,
        "ApplicationID": str(caller),
        "Status": 10,
        "StatusName": "Received",
        "Created": created,
        "Updated": created,
        "ProductIDs": [product[1]],
        "ItemCount": 1,
        "TotalQuantity": item["Quantity"],
        "DeliveryMethodCode": method,
        "ProductionDays": days,
        "RecipientName": recipient["Name"],
        "Currency": store[1],
        "Total": float(total),
        "TrackingNumbers": [],
    }
    rendering = orjson.dumps(row).decode()
    run(ORDER, order_id, number, store[0], caller, created, created, store[1], total, total, method,
        days, *dates, Jsonb(recipient), [product[1]], item["Quantity"], until, rendering)  # fmt: skip
    run(ITEM, order_id, product[0], product[1], product[2], product[3], item["Quantity"],
        Decimal(price), total)  # fmt: skip
    run(TALLY, store[0], caller)
    run(HISTORY, order_id, created)
    run(EVENT, uuid.uuid4(), caller, store_id, created, Jsonb({"OrderID": str(order_id), "Status": 10}))
    record = row | {"CancellableUntil": until, "Recipient": recipient, "Items": [{"ItemKey": "1", **item}]}
    return orjson.dumps(record)


def find_proof(connection: Any, store_id: str, product_id: str, caller: Any, sent: bytes) -> bytes | None:
    """The addresses of a proof that is there; its layout is known beforehand, as a worker of the service keeps it."""
    values = orjson.loads(sent)
    product = connection.execute(PRODUCT, (store_id, product_id, caller), prepare=True).fetchone()
    if product is None or not all(isinstance(value, str) for value in values.values()):
        return None
    extras = [os.environ["BENCH_MARK"], os.environ["BENCH_PRESET"]]
    content = orjson.dumps([values, [], extras], option=orjson.OPT_SORT_KEYS)
    fingerprint = bytes.fromhex(os.environ["BENCH_FINGERPRINT"])
    digest = hashlib.blake2b(fingerprint + content, digest_size=20).hexdigest()
    proof = connection.execute(PROOF, (digest,), prepare=True).fetchone()
    if proof is None or proof[3] < datetime.now(UTC) - timedelta(days=1):
        return None
    folder = Path(os.environ["MEDIA_ROOT"]) / "proofs" / digest[:2] / digest
    names = ["proof.pdf", *(f"page-{page}.png" for page in range(1, len(proof[1])))]
    if any((folder / name).stat().st_size != size for name, size in zip(names, proof[1], strict=True)):
        return None
    urls = [_signed(bytes.fromhex(digest), f"{product_id}-{name}") for name in names]
    pages = urls[1:]
    return orjson.dumps({"ProductID": product_id, "PdfURL": urls[0], "Side1URL": pages[0], "PageURLs": pages})


def _signed(identity: bytes, name: str) -> str:
    day = (int(time.time()) // 86_400 + 31).to_bytes(3)
    key = hashlib.sha256(b"stores.proofs.links" + os.environ["SECRET_KEY"].encode()).digest()
    mac = hmac.digest(key, b"\0".join([b"proofs", name.encode(), day, identity]), "sha256")[:16]
    token = base64.urlsafe_b64encode(identity + day + mac).rstrip(b"=").decode()
    return f"http://127.0.0.1:8000/proofs/{token}/{name}"
