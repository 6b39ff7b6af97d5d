"""Runs preflight on a merged template that was just typeset."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from printing.preflight import Job, Limits, preflight, records
from printing.typesetting import SetText
from stores.proofs.services.merging import TemplateMerge

logger = logging.getLogger("stores.proofs")


def preflight_records(
    *, merged: TemplateMerge, images: Mapping[str, bytes], texts: Sequence[SetText], plates: bool = False
) -> list[dict[str, Any]]:
    """Findings as the API shows them; `plates` as `images` were read.

    An error in preflight itself is logged and does not fail the proof or order.
    """
    product, layout = merged.product, merged.layout
    job = Job(
        template=layout.template,
        values=merged.values,
        images=images,
        fonts=layout.fonts,
        texts=texts,
        product=product.facts,
        digests={
            name: f"{asset.sha256} {asset.plates if plates else ''}" for name, asset in merged.assets.items()
        },
        plated=frozenset(name for name, asset in merged.assets.items() if asset.plates),
    )
    try:
        return records(preflight(job, Limits.of(product.rules)))
    except Exception:
        logger.exception("Preflight failed for the product %s", product.external_id)
        return []
