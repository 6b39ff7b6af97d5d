"""Print files of ordered products: checks the values and renders the file for the press."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from accounts.callers import Caller
from fulfillment.core.observability.instruments import measured_rendering
from printing.typesetting import render_print
from printing.waiting import own_time
from stores.concurrency_limits import RENDERINGS
from stores.proofs.selectors import ProductVersion
from stores.proofs.services.artwork import ArtworkChoice, artwork_errors, merge_artwork
from stores.proofs.services.merging import Uploads, check_values, merge_template
from stores.proofs.services.proofs import Merge, preflight_records, press_of
from stores.templates.selectors import fields_of, options_of, typesetting_errors

# An order is created within one request.
SECONDS = 20.0
# Printed across every page of a test order, in case it is printed by mistake.
TEST_MARK = "TEST"


class PrintedFile(NamedTuple):
    """`asset_ids` are the uploaded pictures in it; `messages` are warnings about the print quality.

    `preflight` has the findings as the API shows them; `preset` is the print preset it was made with, and
    `options` are the values of the fields of the type Choice; None if nothing is known of them.

    For a product without a template `content` and `sha256` are empty.
    """

    content: bytes
    sha256: str
    asset_ids: tuple[UUID, ...] = ()
    messages: tuple[str, ...] = ()
    preflight: Sequence[Mapping[str, Any]] = ()
    preset: Mapping[str, str] | None = None
    options: Mapping[str, str] | None = None


def render_print_file(
    *,
    caller: Caller,
    product: ProductVersion,
    values: Mapping[str, object],
    uploads: Uploads | None = None,
    seconds: float = SECONDS,
) -> PrintedFile:
    """Renders a print file by the product's preset, with pictures in full resolution, and TEST across test orders.

    Takes up to seconds, so hold no lock meanwhile. Raises Invalid for values that cannot be printed; faults point
    into `values`. A product without a template has no content.
    """
    uploads = uploads or Uploads(caller, product.store_id)
    if not product.has_template:
        assets = check_values(product=product, values=values, uploads=uploads)
        options = options_of(fields_of(product.pk), values)
        return PrintedFile(b"", "", tuple(asset.pk for asset in assets.values()), options=options)
    merged = merge_template(caller=caller, product=product, values=values, uploads=uploads)
    return _make_print_file(merged, options_of(merged.layout.fields, merged.values), seconds)


def render_artwork_file(
    *,
    caller: Caller,
    product: ProductVersion,
    choice: ArtworkChoice,
    uploads: Uploads | None = None,
    seconds: float = SECONDS,
) -> PrintedFile:
    """Renders a customer's PDF as `render_print_file` does, in place of the template; faults point into the choice."""
    merged = merge_artwork(caller=caller, product=product, choice=choice, uploads=uploads, in_print=True)
    with artwork_errors():
        return _make_print_file(merged, options_of(fields_of(product.pk), {}), seconds)


def _make_print_file(merged: Merge, options: Mapping[str, str], seconds: float) -> PrintedFile:
    caller, product = merged.uploads.caller, merged.product
    deadline = own_time() + seconds
    with RENDERINGS.slot(caller.key, wait=seconds), typesetting_errors(), measured_rendering("print file"):
        layout, images = merged.layout, merged.images(plates=True)
        seconds = deadline - own_time()
        printed = render_print(
            layout.template,
            merged.values,
            images,
            layout.fonts,
            mark=TEST_MARK if caller.is_test else None,
            press=press_of(product),
            seconds=seconds,
        )
        findings = preflight_records(merged=merged, plates=images, texts=printed.texts, until=deadline)
    used = tuple(asset.pk for asset in merged.assets.values())
    messages = tuple(message.message for message in printed.messages)
    digest = hashlib.sha256(printed.pdf).hexdigest()
    return PrintedFile(printed.pdf, digest, used, messages, findings, product.rules.printed_with, options)
