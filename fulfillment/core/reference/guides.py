"""The guides of the API reference, rendered from the documents in docs/."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import PurePosixPath
from posixpath import normpath

from django.conf import settings
from django.utils.safestring import SafeString

from fulfillment.core.reference.markdown import headings_of, rendered

GUIDES = (
    ("authentication", "Authentication", "oauth.md"),
    ("errors", "Errors", "api/errors.md"),
    ("idempotency", "Idempotency", "api/idempotency.md"),
    ("paging", "Paging", "api/paging.md"),
    ("rate-limits", "Rate limits", "api/rate-limits.md"),
    ("test-applications", "Test applications", "api/test-applications.md"),
    ("client-libraries", "Client libraries", "clients.md"),
    ("webhooks", "Webhooks", "webhooks.md"),
    ("proofs", "Proofs", "proofs.md"),
    ("orders", "Quotes and orders", "orders.md"),
    ("batches", "Batches", "guides/batches.md"),
    ("print-ready-pdfs", "Print your own PDF", "guides/print-ready-pdfs.md"),
    ("preflight", "Preflight findings", "preflight.md"),
    ("budgets", "Budgets", "budgets.md"),
    ("approvals", "Approvals", "approvals.md"),
    ("versioning", "Versioning", "versioning.md"),
)
ROOT = "/api/v1/docs"
LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")


@dataclass(frozen=True, slots=True)
class Guide:
    slug: str
    title: str
    folder: PurePosixPath
    text: str
    html: SafeString
    headings: tuple[tuple[str, str], ...]

    @property
    def linked(self) -> str:
        """The Markdown with the addresses that its links have on the site; other documents are named only."""

        def link(found: re.Match[str]) -> str:
            target = _address(self.folder, found[2])
            return f"[{found[1]}]({target})" if target else found[1]

        return LINK.sub(link, self.text)

    @property
    def url(self) -> str:
        return f"{ROOT}/guides/{self.slug}"


@cache
def guides() -> dict[str, Guide]:
    return {slug: _guide(slug, title, name) for slug, title, name in GUIDES}


@cache
def changes() -> Guide:
    """The change log: a page like those of the guides, but not one of them."""
    return _guide("changes", "Changes", "../CHANGELOG.md")


def _guide(slug: str, title: str, name: str) -> Guide:
    text = (settings.BASE_DIR / "docs" / name).read_text("utf-8")
    # The page shows the document's heading itself.
    _, _, body = text.partition("\n")
    folder = str(PurePosixPath(name).parent)
    return Guide(
        slug=slug,
        title=title,
        folder=PurePosixPath(folder),
        text=body,
        html=rendered(body, guide_link(folder)),
        headings=tuple(headings_of(body)),
    )


@cache
def guide_link(folder: str) -> Callable[[str], str | None]:
    """Maps links of documents in this folder of docs/ to guides; None for a document that is not shown."""
    return partial(_address, PurePosixPath(folder))


def _address(folder: PurePosixPath, link: str) -> str | None:
    if link.startswith(("https://", "http://", "#", "/")):
        return link
    name, _, fragment = link.partition("#")
    target = normpath(folder / name)
    for slug, _, document in GUIDES:
        if document == target:
            return f"{ROOT}/guides/{slug}" + (f"#{fragment}" if fragment else "")
    return None
