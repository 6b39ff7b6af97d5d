"""The guides of the API reference: the Markdown of docs/ as HTML, without raw HTML and inline styles."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from pathlib import PurePosixPath
from posixpath import normpath
from typing import Any

from django.conf import settings
from django.utils.html import escape
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

LANGUAGES = {
    "sh": "Shell",
    "js": "JavaScript",
    "ts": "TypeScript",
    "javascript": "JavaScript",
    "python": "Python",
    "json": "JSON",
}
CODE_ONLY = re.compile(r"[a-z]+(?:_[a-z]+)+\Z")
# Maps a link of a document to the site; None if it is not shown here.
Resolve = Callable[[str], str | None]
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
    ("export", "Export orders", "api/export.md"),
    ("batches", "Batches", "guides/batches.md"),
    ("print-ready-pdfs", "Print your own PDF", "guides/print-ready-pdfs.md"),
    ("preflight", "Preflight findings", "preflight.md"),
    ("budgets", "Budgets", "budgets.md"),
    ("approvals", "Approvals", "approvals.md"),
    ("versioning", "Versioning", "versioning.md"),
)
ROOT = "/api/v1/docs"
LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")


def slug_of(heading: str) -> str:
    """The fragment of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


class Prose(SafeString):
    """Rendered Markdown, with its source."""

    source = ""


@lru_cache(maxsize=4096)
def render_markdown(text: str, resolve: Resolve = str) -> Prose:
    tokens = _make_parser().parse(text)
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", slug_of(_text_of(tokens[index + 1])))
        elif token.type == "td_open" and CODE_ONLY.match(_text_of(tokens[index + 1])):
            token.attrSet("id", _text_of(tokens[index + 1]))
        elif token.children:
            token.children = _resolve_links(token.children, resolve)
    # Escaped by the parser.
    prose = Prose(_make_parser().renderer.render(tokens, _make_parser().options, {}))
    prose.source = text.strip()
    return prose


def rendered_line(text: str) -> Prose:
    """Renders a line without a paragraph around it."""
    prose = Prose(_make_parser().renderInline(text))
    prose.source = text
    return prose


def headings_of(text: str) -> list[tuple[str, str]]:
    """Fragment and text of each heading of the second level."""
    tokens = _make_parser().parse(text)
    headings = [
        _text_of(tokens[index + 1])
        for index, token in enumerate(tokens)
        if token.type == "heading_open" and token.tag == "h2"
    ]
    return [(slug_of(heading), heading) for heading in headings]


def _text_of(inline: Token) -> str:
    return "".join(child.content for child in inline.children or ())


def _resolve_links(children: Sequence[Token], resolve: Resolve) -> list[Token]:
    """Resolves links; those to documents outside of the site become plain text."""
    remaining, opened = [], []
    for child in children:
        if child.type == "link_open":
            target = resolve(str(child.attrs.get("href", "")))
            opened.append(target is not None)
            if target is None:
                continue
            child.attrSet("href", target)
        elif child.type == "link_close" and not opened.pop():
            continue
        remaining.append(child)
    return remaining


@cache
def _make_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.add_render_rule("fence", _render_fence)
    parser.add_render_rule("table_open", _table_open)
    parser.add_render_rule("table_close", lambda *_: "</table></div>")
    for cell in ("th_open", "td_open"):
        parser.add_render_rule(cell, _render_cell)
    return parser


def _render_fence(self: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    token = tokens[index]
    label = LANGUAGES.get(token.info.strip(), "Text")
    env["code"] = env.get("code", 0) + 1
    name = f"code-{env['code']}"
    return (
        f'<figure class="code"><figcaption><span>{label}</span><button class="button button-plain button-small" '
        f'type="button" data-copy="{name}" hidden>Copy</button></figcaption>'
        f'<pre tabindex="0" role="region" aria-label="{label} {env["code"]}">'
        f'<code id="{name}">{escape(token.content)}</code></pre></figure>'
    )


def _table_open(self: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    env["table"] = env.get("table", 0) + 1
    label = f"Table {env['table']}"
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{label}"><table class="table table-prose">'


def _render_cell(self: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    """The alignment of a column would be an inline style."""
    token = tokens[index]
    scope = ' scope="col"' if token.tag == "th" else ""
    anchor = f' id="{escape(token.attrs["id"])}"' if "id" in token.attrs else ""
    return f"<{token.tag}{scope}{anchor}>"


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

        def link(match: re.Match[str]) -> str:
            target = _find_address(self.folder, match[2])
            return f"[{match[1]}]({target})" if target else match[1]

        return LINK.sub(link, self.text)

    @property
    def url(self) -> str:
        return f"{ROOT}/guides/{self.slug}"


@cache
def guides() -> dict[str, Guide]:
    return {slug: _read_guide(slug, title, name) for slug, title, name in GUIDES}


@cache
def changes() -> Guide:
    """The change log: a page like those of the guides, but not one of them."""
    return _read_guide("changes", "Changes", "../CHANGELOG.md")


def _read_guide(slug: str, title: str, name: str) -> Guide:
    text = (settings.BASE_DIR / "docs" / name).read_text("utf-8")
    # The page shows the document's heading itself.
    _, _, body = text.partition("\n")
    folder = str(PurePosixPath(name).parent)
    return Guide(
        slug=slug,
        title=title,
        folder=PurePosixPath(folder),
        text=body,
        html=render_markdown(body, guide_link(folder)),
        headings=tuple(headings_of(body)),
    )


@cache
def guide_link(folder: str) -> Callable[[str], str | None]:
    """Maps links of documents in this folder of docs/ to guides; None for a document that is not shown."""
    return partial(_find_address, PurePosixPath(folder))


def _find_address(folder: PurePosixPath, link: str) -> str | None:
    if link.startswith(("https://", "http://", "#", "/")):
        return link
    name, _, fragment = link.partition("#")
    target = normpath(folder / name)
    for slug, _, document in GUIDES:
        if document == target:
            return f"{ROOT}/guides/{slug}" + (f"#{fragment}" if fragment else "")
    return None
