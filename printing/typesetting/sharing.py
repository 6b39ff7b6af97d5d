"""How two renderers share the drawing of pages."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

# From so many pages on two renderers share the drawing; the one that makes the PDF draws fewer.
SHARED_PAGES = 12
SHARE, SHARE_BESIDE_PDF = 0.5, 0.4


class Drawing(NamedTuple):
    """The request for the whole sheet, which wants a PDF or pages alone, and jobs that draw some of its pages."""

    request: dict[str, Any]
    whole: bytes
    new: Sequence[int]
    pages: Callable[[Sequence[int]], bytes]

    @property
    def is_pages_only(self) -> bool:
        return "pdf" not in self.request["outputs"]

    def first(self, *, is_shared: bool) -> tuple[dict[str, Any], list[bytes], Sequence[int]]:
        """The request and jobs of one renderer, and the pages that are left for another."""
        share = SHARE if self.is_pages_only else SHARE_BESIDE_PDF
        count = len(self.new) if not is_shared else int(len(self.new) * share) if self.is_long else 0
        drawn, left = self.new[:count], self.new[count:]
        if self.is_pages_only:
            return self.request, [self.pages(drawn) if left else self.whole], left
        if not drawn:
            return self.request, [self.whole], left
        return {**self.request, "then": ["png"]}, [self.whole, self.pages(drawn)], left

    @property
    def is_long(self) -> bool:
        return len(self.new) >= SHARED_PAGES
