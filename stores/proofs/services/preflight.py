"""Preflight of a product's template with a customer's values, as it was just typeset."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from stores.preflight import Job, Limits, preflight, records
from stores.proofs.services.merging import TemplateMerge
from stores.typesetting import SetText

logger = logging.getLogger("stores.proofs")


def preflight_records(
    *, merged: TemplateMerge, images: Mapping[str, bytes], texts: Sequence[SetText]
) -> list[dict[str, Any]]:
    """Findings as the API shows them. A fault of preflight itself is logged, and costs nobody a proof or an order."""
    facts, layout = merged.product.print, merged.layout
    job = Job(
        template=layout.template,
        values=merged.values,
        images=images,
        fonts=layout.fonts,
        texts=texts,
        product=facts.product,
        digests={name: asset.sha256 for name, asset in merged.assets.items()},
        plated=frozenset(name for name, asset in merged.assets.items() if asset.plates),
    )
    try:
        return records(preflight(job, Limits.of(facts.preset)))
    except Exception:
        logger.exception("Preflight failed for the product %s", merged.product.external_id)
        return []
