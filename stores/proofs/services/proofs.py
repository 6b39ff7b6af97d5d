"""Proofs: rendered on request, checked by preflight, stored under a digest of their input, all files or none."""

import hashlib
import logging
import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import OperationalError, transaction
from django.utils import timezone
from psycopg.errors import LockNotAvailable
from psycopg.types.json import Jsonb

from accounts.callers import Caller
from accounts.rate_limits import enforce_limit
from applications.registration.services.milestones import PROOF, record_milestone
from fulfillment.core.db.locks import lock_until_commit
from fulfillment.core.db.prepared import execute
from fulfillment.core.errors import Unavailable
from fulfillment.core.files.storage import storage_errors
from fulfillment.core.files.stored import files_are_complete, read_file, write_files
from fulfillment.core.http.addresses import rate_limit_key_for_ip
from fulfillment.core.observability.instruments import measured_rendering
from printing.bounded import busy
from printing.preflight import Limits, PreflightInput, preflight, records
from printing.press.pictures import VERSION
from printing.press.rules import PresetRules
from printing.typesetting import Press, RenderingFailed, SetText, render_pdf_page, render_proof
from printing.typesetting import Proof as Rendered
from printing.typesetting.press import separate
from printing.waiting import stage
from stores.concurrency_limits import RENDERINGS
from stores.presets.selectors import profile_file
from stores.proofs.file_names import press_picture_file, proof_files, wide_page_file
from stores.proofs.models import Proof
from stores.proofs.selectors import ProductVersion, StoredProof, find_proof
from stores.proofs.services.artwork import ArtworkChoice, ArtworkMerge, artwork_errors, merge_artwork
from stores.proofs.services.merging import TemplateMerge, Uploads, merge_template, record_traces
from stores.templates.selectors import typesetting_errors

logger = logging.getLogger("stores.proofs")


Merge = TemplateMerge | ArtworkMerge
# A use within this time is not recorded again; PROOF_RETENTION_DAYS is far longer.
TOUCH_AFTER = timedelta(days=1)
SOFT_PROOF = "soft proof"
# A row that exists keeps its traces.
SAVE = """
INSERT INTO stores_proof (product_id, is_test, digest, sizes, messages, preflight, traces, created, last_used)
VALUES (%(product)s, %(is_test)s, %(digest)s, %(sizes)s, %(messages)s, %(preflight)s, %(traces)s, %(now)s, %(now)s)
ON CONFLICT (digest) DO UPDATE SET product_id = excluded.product_id, sizes = excluded.sizes,
    messages = excluded.messages, preflight = excluded.preflight, last_used = excluded.last_used
"""


def preflight_records(
    *, merged: Merge, plates: Mapping[str, bytes], texts: Sequence[SetText], until: float = math.inf
) -> list[dict[str, Any]]:
    """Findings as the API shows them, the same for proof and order: `plates` are the uploads as they are printed.

    An error in preflight itself is logged and does not fail the proof or order. Raises Unavailable where it could not
    look for now, and RenderingFailed where it could not look at all, or not `until` then by `own_time`: without its
    findings an order would be printed unchecked.
    """
    product, layout = merged.product, merged.layout
    job = PreflightInput(
        template=layout.template,
        values=merged.values,
        images=plates,
        fonts=layout.fonts,
        texts=texts,
        product=product.facts,
        digests={name: asset.printed_key for name, asset in merged.assets.items()},
        plated=frozenset(name for name, asset in merged.assets.items() if asset.plates),
        press=press_of(product),
        until=until,
    )
    try:
        return records(preflight(replace(job, **merged.placed), Limits.of(product.rules)))
    except (Unavailable, RenderingFailed):
        raise
    except Exception:
        logger.exception("Preflight failed for the product %s", product.external_id)
        return []


def press_of(product: ProductVersion) -> Press:
    rules = product.rules
    return Press(
        rules=rules,
        profile=profile_file(rules.profile),
        title=product.external_id,
        separate=partial(_separate_picture, rules),
    )


def _separate_picture(rules: PresetRules, content: bytes) -> bytes:
    """The picture from the cache, or separated and cached. Two callers may do so at once and write equal bytes."""
    conversion = f"{VERSION} {rules.profile} {rules.highest_ink}"
    name = press_picture_file(
        hashlib.sha256(content).hexdigest(), hashlib.sha256(conversion.encode()).hexdigest()[:16]
    )
    with suppress(FileNotFoundError), storage_errors():
        if default_storage.exists(name):
            return read_file(name)
    separated = separate(content, profile_file(rules.profile), rules.highest_ink)
    with storage_errors():
        write_files([(name, separated)])
    return separated


def make_proof(
    *, caller: Caller, product: ProductVersion, values: Mapping[str, object], in_print: bool = False
) -> StoredProof:
    """The stored proof of this product and data, or a new one; with `in_print` in the colors of its preset."""
    with stage("merge"):
        merged = merge_template(caller=caller, product=product, values=values)
    return _find_or_render(merged, in_print=in_print)


def make_artwork_proof(
    *, caller: Caller, product: ProductVersion, choice: ArtworkChoice, in_print: bool = False
) -> StoredProof:
    """Makes a proof as `make_proof` does, of a customer's PDF in place of the template."""
    merged = merge_artwork(caller=caller, product=product, choice=choice, in_print=in_print)
    with artwork_errors():
        return _find_or_render(merged, in_print=in_print)


def preflight_artwork(
    *, caller: Caller, product: ProductVersion, choice: ArtworkChoice, uploads: Uploads
) -> list[dict[str, Any]]:
    """The findings of a proof or order of the PDF, of which nothing is rendered."""
    merged = merge_artwork(caller=caller, product=product, choice=choice, uploads=uploads)
    with artwork_errors(), RENDERINGS.slot(caller.key), typesetting_errors():
        return preflight_records(merged=merged, plates={}, texts=())


def _find_or_render(merged: Merge, *, in_print: bool) -> StoredProof:
    caller, product = merged.uploads.caller, merged.product
    press = press_of(product) if in_print else None
    digest = merged.proof_digest(*([SOFT_PROOF, product.rules.digest] if in_print else []))
    traces = merged.traces()
    proof = find_proof(digest)
    if proof is not None and _is_whole(proof) and _is_still_stored(proof):
        record_traces(proof=proof, traces=traces)
        record_milestone(application_id=caller.application_id, name=PROOF)
        return proof
    with RENDERINGS.slot(caller.key) as held:
        proof = _render_once(product, merged, digest, traces, press, held.slot)
    record_milestone(application_id=caller.application_id, name=PROOF)
    return proof


def lock_proof(digest: str) -> None:
    """Take this lock before writing or deleting the proof's files; it is released when the transaction ends."""
    lock_until_commit(int.from_bytes(bytes.fromhex(digest[:16]), signed=True))


def _is_still_stored(proof: StoredProof) -> bool:
    return proof.last_used >= timezone.now() - TOUCH_AFTER or _touch_proof(proof.digest)


def _touch_proof(digest: str) -> bool:
    """Returns False if retention has deleted the proof meanwhile."""
    return bool(Proof.objects.filter(digest=digest).update(last_used=timezone.now()))


def _render_once(
    product: ProductVersion,
    merged: Merge,
    digest: str,
    traces: list[str],
    press: Press | None,
    slot: ExitStack,
) -> StoredProof:
    """Renders once for equal requests at the same time; the others wait and then return the stored proof.

    The slot is free after the rendering: while files and row are written, the renderer works for others.
    """
    with transaction.atomic():
        _wait_for_lock(digest)
        former = find_proof(digest)
        if former is not None and _is_whole(former):
            record_traces(proof=former, traces=traces)
            return former
        with typesetting_errors(), measured_rendering("proof"):
            rendered, findings = _render_proof(merged, press)
        slot.close()
        contents = (rendered.pdf, *rendered.pages)
        with stage("files"), storage_errors():
            write_files(zip(proof_files(digest, len(rendered.pages)), contents, strict=True))
        proof = StoredProof(
            digest,
            [len(content) for content in contents],
            [message.message for message in rendered.messages],
            timezone.now(),
            preflight=findings,
        )
        with stage("row"):
            _save_proof(product, proof, traces, is_test=merged.uploads.caller.is_test)
        if former is not None:
            record_traces(proof=former, traces=traces)
    return proof


def _render_proof(merged: Merge, press: Press | None) -> tuple[Rendered, list[dict[str, Any]]]:
    """The proof and its findings."""
    plates, layout = merged.images(plates=True), merged.layout
    rendered = render_proof(
        layout.template,
        merged.values,
        merged.images() if press is None else plates,
        layout.fonts,
        settings.PROOF_WATERMARK,
        press=press,
    )
    with stage("preflight"):
        return rendered, preflight_records(merged=merged, plates=plates, texts=rendered.texts)


def _wait_for_lock(digest: str) -> None:
    try:
        lock_proof(digest)
    except OperationalError as error:
        if isinstance(error.__cause__, LockNotAvailable):
            raise busy() from error
        raise


def _save_proof(product: ProductVersion, proof: StoredProof, traces: list[str], *, is_test: bool) -> None:
    row = {
        "product": product.pk,
        "is_test": is_test,
        "digest": proof.digest,
        "sizes": proof.sizes,
        "messages": Jsonb(proof.messages),
        "preflight": Jsonb(proof.preflight) if proof.preflight else None,
        "traces": traces or None,
        "now": proof.last_used,
    }
    execute(SAVE, row)


def _is_whole(proof: StoredProof) -> bool:
    return files_are_complete(proof_files(proof.digest, proof.page_count), proof.sizes)


def draw_wide_page(*, digest: str, page: int, width: int, address: str) -> None:
    """Draws and stores a page. Raises FileNotFoundError where the proof is no longer stored."""
    enforce_limit("wide-page", rate_limit_key_for_ip(address), quota=settings.WIDE_PAGES_PER_MINUTE)
    with storage_errors():
        pdf = read_file(proof_files(digest, 0)[0])
    with RENDERINGS.slot(), typesetting_errors(), measured_rendering("page of a proof"):
        picture = render_pdf_page(pdf, page - 1, pixels=width, trimmed=True)
    _store_picture(digest, wide_page_file(digest, page, width), picture)


@transaction.atomic
def _store_picture(digest: str, name: str, picture: bytes) -> None:
    """Stores the picture under the lock of the proof, so that it does not outlive the proof."""
    lock_proof(digest)
    if Proof.objects.filter(digest=digest).exists():
        with storage_errors():
            write_files([(name, picture)])
