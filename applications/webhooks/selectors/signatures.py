"""Standard Webhooks 1.0: secrets and signatures of sent requests, and the reasons why a received one is invalid."""

import hmac
import re
import secrets
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

import orjson
from django.db.models import Q
from django.utils.translation import gettext as _
from standardwebhooks import Webhook as Signer

from applications.webhooks.models import Delivery, DeliveryAttempt, Webhook
from applications.webhooks.selectors.webhooks import event_record
from fulfillment.core.secrets import SecretUnreadable, decrypt

SECRET_BYTES = 32
USER_AGENT = "StoreFulfillment-Webhooks/1"
NAMES = ("webhook-id", "webhook-timestamp", "webhook-signature")
# The tolerance of the Standard Webhooks libraries.
TOLERANCE = timedelta(minutes=5)


def generate_webhook_secret() -> str:
    return "whsec_" + b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def signed_headers(
    *, ciphertexts: Sequence[bytes], event_id: str, now: datetime, body: bytes
) -> dict[str, str]:
    """One signature for each secret, so that a receiver may hold the old or the new one."""
    signatures = [_make_signer(bytes(text)).sign(event_id, now, body.decode()) for text in ciphertexts]
    return {
        "webhook-id": event_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(signatures),
    }


@lru_cache(maxsize=1024)
def _make_signer(ciphertext: bytes) -> Signer:
    return Signer(decrypt(ciphertext))


@dataclass(frozen=True, slots=True)
class Verdict:
    """`reason` says why a signature is invalid; `notes` are further hints."""

    is_valid: bool
    reason: str
    notes: tuple[str, ...] = ()


def sent_body(delivery: Delivery) -> bytes:
    """The exact bytes of the request body."""
    return orjson.dumps(event_record(delivery.event))


def sent_headers(delivery: Delivery, attempt: DeliveryAttempt) -> dict[str, str]:
    """The headers of an attempt; without a signature if its secrets have been removed."""
    in_force = Q(expires__isnull=True) | Q(expires__gt=attempt.timestamp)
    secrets = delivery.webhook.secrets.filter(in_force, created__lte=attempt.timestamp).order_by("created")
    ciphertexts = [bytes(secret.ciphertext) for secret in secrets]
    common = {"Content-Type": "application/json", "User-Agent": USER_AGENT}
    try:
        signed = signed_headers(
            ciphertexts=ciphertexts,
            event_id=str(delivery.event.event_id),
            now=attempt.timestamp,
            body=sent_body(delivery),
        )
    except SecretUnreadable:
        signed = {}
    return {**common, **{name: value for name, value in signed.items() if value}}


def headers_in(text: str) -> dict[str, str]:
    """Finds the three headers in copied lines `name: value`."""
    lines = (line.partition(":") for line in text.splitlines() if ":" in line)
    values = {name.strip().lower(): value.strip() for name, _colon, value in lines}
    return {name: values[name] for name in NAMES if name in values}


def verify_signature(webhook: Webhook, *, body: str, headers: Mapping[str, str], now: datetime) -> Verdict:
    missing = [name for name in NAMES if not headers.get(name)]
    if missing:
        return Verdict(
            False,
            _("Missing: %(missing)s. Paste each header on its own line as “name: value”.")
            % {"missing": ", ".join(missing)},
        )
    stamp = headers["webhook-timestamp"]
    if not re.fullmatch(r"\d{1,10}", stamp, re.ASCII):
        return Verdict(False, _("webhook-timestamp is not a number of seconds since 1970."))
    signatures = [part for part in headers["webhook-signature"].split() if part.startswith("v1,")]
    if not signatures:
        return Verdict(False, _("webhook-signature contains no signature that starts with “v1,”."))
    notes = _age_notes(int(stamp), now)
    secrets = list(webhook.secrets.order_by("-created"))
    for secret in secrets:
        signer = Signer(decrypt(bytes(secret.ciphertext)))
        if _matches(signer, headers["webhook-id"], stamp, body, signatures):
            ended = secret.expires is not None and secret.expires <= now
            if ended:
                notes = (*notes, _("Signed with a replaced secret that is no longer valid."))
            elif secret.expires is not None:
                notes = (
                    *notes,
                    _(
                        "Signed with the replaced secret, which expires soon. Events are signed with the new secret, "
                        "too."
                    ),
                )
            return Verdict(True, _("The signature is valid."), notes)
    return Verdict(False, *_mismatch_reason(webhook, body, headers, signatures))


def _age_notes(seconds: int, now: datetime) -> tuple[str, ...]:
    away = now - datetime.fromtimestamp(seconds, UTC)
    if abs(away) <= TOLERANCE:
        return ()
    if away > TOLERANCE:
        return (_("The timestamp is more than 5 minutes old, so receivers reject it now, as they should."),)
    return (
        _("The timestamp is more than 5 minutes in the future, so receivers reject it now, as they should."),
    )


def _matches(signer: Signer, event_id: str, stamp: str, body: str, signatures: list[str]) -> bool:
    # Signed once: a header may list thousands of signatures.
    own = signer.sign(event_id, datetime.fromtimestamp(int(stamp), UTC), body).encode()
    return any(hmac.compare_digest(own, signature.encode()) for signature in signatures)


def _change_of_body(
    webhook: Webhook, body: str, headers: Mapping[str, str], signatures: list[str]
) -> str | None:
    """Finds what was done to the body, if it matches without that."""
    signers = [Signer(decrypt(bytes(secret.ciphertext))) for secret in webhook.secrets.all()]
    changes: dict[str, Callable[[str], str]] = {
        "The body has whitespace around it that was not sent. Verify the raw request body.": str.strip,
        "Line endings or indentation of the body were changed. Verify the raw request body, before it is parsed.": (
            _as_sent
        ),
    }
    for reason, change in changes.items():
        changed = change(body)
        if changed != body and any(
            _matches(signer, headers["webhook-id"], headers["webhook-timestamp"], changed, signatures)
            for signer in signers
        ):
            return reason
    return None


def _mismatch_reason(
    webhook: Webhook, body: str, headers: Mapping[str, str], signatures: list[str]
) -> tuple[str, tuple[str, ...]]:
    """The reason of a mismatch, found by testing frequent mistakes of receivers."""
    if changed := _change_of_body(webhook, body, headers, signatures):
        return changed, ()
    event_id = _event_id(body)
    if event_id and event_id != headers["webhook-id"]:
        return (
            _(
                "webhook-id is not the EventID of this body. The headers and the body belong to different requests."
            ),
            (),
        )
    return (
        _("The signature was not created with a secret of this webhook."),
        (
            _(
                "Does the request belong to another webhook, or was the secret replaced more than 24 hours ago?"
            ),
            _("Was the body changed in transit, or a different timestamp copied?"),
        ),
    )


def _as_sent(body: str) -> str:
    try:
        return orjson.dumps(orjson.loads(body)).decode()
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):  # it reads more levels than it writes
        return body


def _event_id(body: str) -> str:
    try:
        parsed = orjson.loads(body)
    except orjson.JSONDecodeError:
        return ""
    return str(parsed.get("EventID", "")) if isinstance(parsed, dict) else ""
