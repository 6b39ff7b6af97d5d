"""Pages of a proof, drawn while a person types and never stored. The stored proof follows."""

from collections.abc import Mapping

from django.conf import settings

from accounts.callers import Caller
from fulfillment.core.observability.instruments import measured_rendering
from printing.typesetting import proof_dpi, render_page
from stores.concurrency_limits import RENDERINGS
from stores.proofs.selectors import ProductVersion
from stores.proofs.services.merging import merge_template
from stores.templates.errors import typesetting_errors, values_invalid

# A field is rarely on more pages; the proof shows the others.
MAX_PAGES = 2


def draw_draft(
    *, caller: Caller, product: ProductVersion, values: Mapping[str, object], field: str
) -> dict[int, bytes]:
    """The PNG of each page that shows the field, by its number from 1, as a proof shows it.

    Raises Invalid where a proof does.
    """
    merged = merge_template(caller=caller, product=product, values=values)
    layout, images = merged.layout, merged.images()
    pages = layout.template.pages
    dpi = proof_dpi((page.width, page.height) for page in pages)
    showing = [at for at, page in enumerate(pages) if any(box.field == field for box in page.boxes)]
    mark, drawn = settings.PROOF_WATERMARK, {}
    with RENDERINGS.limited(caller.key), typesetting_errors(), measured_rendering("draft"):
        for at in showing[:MAX_PAGES]:
            pixels = round(pages[at].width / 25.4 * dpi)
            found = render_page(layout.template, at, merged.values, images, layout.fonts, mark, pixels=pixels)
            if unfit := [problem for problem in found.problems if problem.code == "does_not_fit"]:
                raise values_invalid(unfit)
            drawn[at + 1] = found.png
    return drawn
