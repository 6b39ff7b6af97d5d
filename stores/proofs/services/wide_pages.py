"""Pages of proofs in other widths than the stored ones, drawn from its PDF when first requested, and kept."""

from django.conf import settings
from django.db import transaction

from accounts.rate_limits import enforce_limit
from fulfillment.core.client_addresses import rate_limit_key_for_ip
from fulfillment.core.files.storage import storage_errors
from fulfillment.core.files.stored import proof_files, read_file, wide_page_file, write_files
from fulfillment.core.observability.instruments import measured_rendering
from printing.typesetting import render_pdf_page
from stores.concurrency_limits import RENDERINGS
from stores.proofs.models import Proof
from stores.proofs.services.proofs import lock_proof
from stores.templates.errors import typesetting_errors


def draw_wide_page(*, digest: str, page: int, width: int, address: str) -> None:
    """Draws and stores a page. Raises FileNotFoundError where the proof is no longer stored."""
    enforce_limit("wide-page", rate_limit_key_for_ip(address), quota=settings.WIDE_PAGES_PER_MINUTE)
    with storage_errors():
        pdf = read_file(proof_files(digest, 0)[0])
    with RENDERINGS.limited(), typesetting_errors(), measured_rendering("page of a proof"):
        picture = render_pdf_page(pdf, page - 1, pixels=width, trimmed=True)
    _store(digest, wide_page_file(digest, page, width), picture)


@transaction.atomic
def _store(digest: str, name: str, picture: bytes) -> None:
    """Stores the picture under the lock of the proof, so that it does not outlive the proof."""
    lock_proof(digest)
    if Proof.objects.filter(digest=digest).exists():
        with storage_errors():
            write_files([(name, picture)])
