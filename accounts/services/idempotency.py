"""Stores responses to requests with an Idempotency-Key, so that a repeated request has no further effect."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import Error, connection, transaction
from django.db.models import F, Func, IntegerField
from django.utils import timezone

from accounts.callers import Caller
from accounts.models import IdempotentResponse
from fulfillment.core.concurrency_limits import slot_if
from fulfillment.core.db.locks import try_lock_until_commit
from fulfillment.core.db.prepared import execute, fetch_rows
from fulfillment.core.errors import Busy, Unprocessable
from fulfillment.core.secrets import decrypt, digest, digests, encrypt

IN_PROGRESS = "A request with this Idempotency-Key is in progress. Wait, then send the request again."
RETENTION = timedelta(hours=24)
CLEARED_AT_ONCE = 5
# As stored, encrypted: to repeat a longer response takes many times its size of memory.
LONG_RESPONSE_BYTES = 700_000
# How long a killed process holds a key: clients/python repeats for 5 seconds at least. Longer work may be done twice;
# its effect is still one.
LEASE_SECONDS = 4
LEASE = """
INSERT INTO accounts_requestlease AS held (key, until)
SELECT key, clock_timestamp() + make_interval(secs => %s) FROM unnest(%s::text[]) AS key
ON CONFLICT (key) DO UPDATE SET until = excluded.until WHERE held.until < clock_timestamp()
RETURNING key, until
"""
RELEASE = """
DELETE FROM accounts_requestlease USING unnest(%s::text[], %s::timestamptz[]) AS ours (key, until)
WHERE accounts_requestlease.key = ours.key AND accounts_requestlease.until = ours.until
"""
# The allowed difference between the clocks of web machine and database, plus the time of a request.
CLOCKS_APART = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class KeyedRequest:
    """A request with its key; `content` is all that identifies a repetition."""

    caller: Caller
    key: str
    content: str

    @property
    def scope(self) -> str:
        return f"{self.caller.user_id}/{self.caller.application_id}/{self.key}"


@dataclass(frozen=True, slots=True)
class StoredResponse:
    status: int
    headers: dict[str, str]
    body: bytes


def stored_response(*, request: KeyedRequest) -> StoredResponse | None:
    """The stored response to this request; refuses a different request under the same key."""
    size = Func(F("body"), function="octet_length", output_field=IntegerField())
    responses = IdempotentResponse.objects.annotate(size=size).defer("body")
    stored = responses.filter(
        key__in=digests(request.scope),
        user=request.caller.user_id,
        application=request.caller.application_id,
        created__gt=timezone.now() - RETENTION,
    ).first()
    if stored is None:
        return None
    if stored.fingerprint not in digests(request.content):
        raise Unprocessable(
            "This Idempotency-Key was used for another request within 24 hours. Send a new key with each "
            "request. Only an identical request may reuse a key.",
            code="idempotency_key_reused",
        )
    with slot_if(stored.size > LONG_RESPONSE_BYTES, request.caller.key):
        return StoredResponse(stored.status, stored.headers, decrypt(stored.body).encode())


def execute_once(*, request: KeyedRequest, act: Callable[[], StoredResponse]) -> tuple[StoredResponse, bool]:
    """Acts and keeps the response in one transaction, or gives the one kept: (response, whether it was kept).

    What raises is neither done nor kept. While the first of two equal requests acts, the second is refused.
    """
    with transaction.atomic():
        if not _claim(request):
            raise Busy(IN_PROGRESS)
        if stored := stored_response(request=request):
            return stored, True
        response = act()
        _store(request, response)
    return response, False


@contextmanager
def exclusive_request(*, request: KeyedRequest) -> Iterator[None]:
    """Refuses equal requests while this one is prepared, before the transaction of `execute_once`.

    It saves work; that one request takes effect is the promise of `execute_once` alone.
    """
    keys = sorted(digests(request.scope))
    leased = fetch_rows(LEASE, [LEASE_SECONDS, keys])
    try:
        if len(leased) < len(keys):
            raise Busy(IN_PROGRESS)
        yield
    finally:
        # After an outage there is nothing to release: the lease ends by itself.
        with suppress(Error):
            execute(RELEASE, [[key for key, _ in leased], [until for _, until in leased]])


def rewrite_stored_responses(
    *, since: datetime, until: datetime, location: str, rewrite: Callable[[bytes], bytes | None]
) -> int:
    """Applies `rewrite` to the stored responses of all callers about a record; returns how many it changed.

    They were made between `since` and `until`, and `location` ends the address of the record. Only these responses
    are decrypted: of one caller, 12,000 of 40 kB may be of that time.
    """
    changed = 0
    with transaction.atomic():
        responses = IdempotentResponse.objects.filter(headers__Location__endswith=location)
        responses = responses.filter(created__range=(since - CLOCKS_APART, until + CLOCKS_APART))
        for stored in responses.select_for_update(of=("self",)).order_by("pk"):
            body = rewrite(decrypt(stored.body).encode())
            if body is not None:
                stored.body = encrypt(body.decode())
                stored.save(update_fields=["body"])
                changed += 1
    return changed


def delete_responses_about(*, record_id: str, created: datetime) -> None:
    """Deletes stored responses without a Location that name a record made at this time."""
    when = (created - CLOCKS_APART, created + CLOCKS_APART)
    responses = IdempotentResponse.objects.filter(headers__Location__isnull=True, created__range=when)
    # All at once, 10,000 of 40 kB take a gigabyte.
    for stored in responses.iterator(chunk_size=20):
        if record_id in decrypt(stored.body):
            stored.delete()


def clear_old_responses() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM accounts_idempotentanswer WHERE id IN (SELECT id FROM accounts_idempotentanswer "
            "WHERE created < %s ORDER BY created LIMIT %s FOR UPDATE SKIP LOCKED)",
            [timezone.now() - RETENTION, CLEARED_AT_ONCE],
        )


def _claim(request: KeyedRequest) -> bool:
    """Locks the request until the transaction ends, so that a crash leaves no lock behind.

    Locks under each pepper in use, in a fixed order: during a rotation other processes have another newest pepper.
    """
    numbers = [
        int.from_bytes(bytes.fromhex(hex_digest)[:8], "big", signed=True)
        for hex_digest in sorted(digests(request.scope))
    ]
    return all(try_lock_until_commit(number) for number in numbers)


def _store(request: KeyedRequest, response: StoredResponse) -> None:
    clear_old_responses()
    IdempotentResponse.objects.filter(
        key__in=digests(request.scope),
        user=request.caller.user_id,
        application=request.caller.application_id,
    ).delete()
    IdempotentResponse.objects.create(
        user_id=request.caller.user_id,
        application_id=request.caller.application_id,
        key=digest(request.scope),
        fingerprint=digest(request.content),
        status=response.status,
        headers=response.headers,
        body=encrypt(response.body.decode()),
        created=timezone.now(),
    )
