"""The names of the files of proofs, assets and customers' PDFs."""

from uuid import UUID

PRESS_PICTURES = "press-pictures"
DOCUMENTS = "documents"


def proof_folder(digest: str) -> str:
    return f"proofs/{digest[:2]}/{digest}"


def proof_files(digest: str, page_count: int) -> list[str]:
    """The PDF first, then the pages."""
    folder = proof_folder(digest)
    return [f"{folder}/proof.pdf", *(f"{folder}/page-{page}.png" for page in range(1, page_count + 1))]


def wide_page_file(digest: str, page: int, width: int) -> str:
    """A page in a width of its own; it can be drawn again at any time."""
    return f"{proof_folder(digest)}/page-{page}-{width}.png"


def asset_file(asset_id: UUID, form: str) -> str:
    return f"assets/{asset_id.hex[:2]}/{asset_id.hex}.{form}"


def document_file(sha256: str) -> str:
    """A print-ready PDF, by the digest of what was sent."""
    return f"{DOCUMENTS}/{sha256[:2]}/{sha256}.pdf"


def press_picture_file(digest: str, conversion: str) -> str:
    """A picture in the inks of a preset; it can be made again at any time."""
    return f"{PRESS_PICTURES}/{digest[:2]}/{digest}-{conversion}.pdf"
