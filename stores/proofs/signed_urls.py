"""The signed addresses of proofs and assets, and the stored file of each."""

import re
from typing import NamedTuple
from uuid import UUID

from fulfillment.core.files.stored import asset_file, proof_files
from stores.proofs.links import signed_urls
from stores.proofs.models import Asset
from stores.proofs.selectors.proofs import StoredProof

PROOFS, ASSETS = "proofs", "assets"
MEDIA_TYPES = {"pdf": "application/pdf", "png": "image/png", "jpg": "image/jpeg"}
_PAGE = re.compile(r"-page-([1-9][0-9]?)\.png\Z")


class ProofURLs(NamedTuple):
    pdf: str
    pages: list[str]


class LinkedFile(NamedTuple):
    """`tag` is the ETag: equal only for equal bytes."""

    file_name: str
    media_type: str
    tag: str


def proof_urls(proof: StoredProof, product_id: str) -> ProofURLs:
    names = [f"{product_id}-page-{page}.png" for page in range(1, proof.page_count + 1)]
    pdf, *pages = signed_urls(PROOFS, bytes.fromhex(proof.digest), [f"{product_id}.pdf", *names])
    return ProofURLs(pdf, pages)


def asset_url(asset: Asset) -> str:
    return signed_urls(ASSETS, asset.pk.bytes, [f"image.{asset.format}"])[0]


def linked_file(kind: str, identity: bytes, name: str) -> LinkedFile:
    """For a name whose signature was checked, and that therefore has one of the forms above."""
    suffix = name.rpartition(".")[2]
    tag = f"{identity.hex()}-{suffix}"
    if kind == ASSETS:
        return LinkedFile(asset_file(UUID(bytes=identity), suffix), MEDIA_TYPES[suffix], tag)
    page = _PAGE.search(name)
    number = int(page[1]) if page else 0
    files = proof_files(identity.hex(), number)
    return LinkedFile(files[number], MEDIA_TYPES[suffix], f"{tag}-{number}")
