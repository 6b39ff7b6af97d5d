"""The pages of the API reference as Markdown, for programs that read documents."""

import json
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import cache
from typing import NamedTuple

from django.conf import settings
from django.utils.feedgenerator import Atom1Feed

from fulfillment.core.reference.guides import (
    ROOT,
    Guide,
    changes,
    guide_link,
    guides,
    render_markdown,
    slug_of,
)
from fulfillment.core.reference.operations import events, groups
from fulfillment.core.reference.problems import ProblemPage
from fulfillment.core.reference.schemas import DescribedEvent, DescribedMember, Operation

ABOUT = (
    "Store Fulfillment puts print-on-demand stores behind one API: sign in with OAuth, read products, "
    "render proofs, get binding prices, submit orders and follow them."
)
# "## 0.1.0", then a paragraph that begins with the day. "Unreleased" has none.
RELEASE = re.compile(r"^## (\S+)\n+(\d{4}-\d{2}-\d{2})\. (.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


def guide_text(guide: Guide) -> str:
    return f"# {guide.title}\n\n{guide.linked.strip()}\n"


def operation_text(operation: Operation) -> str:
    parts = [
        f"# {operation.title}",
        f"`{operation.method} {operation.path}`",
        operation.description.source,
        f"Who may call it: {operation.access.source}",
    ]
    for place, members in operation.parameters:
        parts += [f"## {place}", _list_of(members)]
    if operation.body:
        members = operation.body.schema.members if operation.body.schema else ()
        parts += ["## Body", ", ".join(f"`{media}`" for media in operation.body.media), _list_of(members)]
    for response in operation.responses:
        parts += [f"## Response {response.status}", response.description.source]
        parts += [_list_of(response.schema.members)] if response.schema else []
        parts += [_write_code("json", text) for _, text in response.examples[:1]]
    refusals = (
        f"- {refusal.status}: {', '.join(f'`{code}`' for code in refusal.codes)}"
        for refusal in operation.refusals
    )
    parts += ["## Errors", "\n".join(refusals), "## Example"]
    parts += [_write_code("sh", text) for language, _, text in operation.samples if language == "curl"]
    return _join_parts(parts)


def event_text(event: DescribedEvent) -> str:
    parts = [f"# Event {event.name}", event.about.source, event.description.source, "## Body"]
    return _join_parts([*parts, _list_of(event.schema.members), _write_code("json", event.example)])


def problem_text(problem: ProblemPage) -> str:
    parts = [f"# {problem.code}", f"{problem.status} {problem.title}", "## Cause", problem.cause.source]
    return _join_parts(
        [*parts, "## What to do", problem.what_to_do.source, _write_code("json", problem.example)]
    )


@cache
def index_text() -> str:
    """The index that https://llmstxt.org describes."""
    parts = ["# Store Fulfillment", f"> {ABOUT}", "## Guides"]
    parts += [_list_links((guide.title, guide.url) for guide in guides().values())]
    for group in groups():
        links = (
            (f"{operation.title} ({operation.method} {operation.path})", operation.url)
            for operation in group.operations
        )
        parts += [f"## {group.name}", _list_links(links)]
    parts += ["## Events", _list_links((event.name, event.url) for event in events().values())]
    schema = f"- [OpenAPI description]({settings.API_URL}/schema)"
    full_text = f"- [All of this in one text]({settings.PUBLIC_URL}/llms-full.txt)"
    news = f"- [Changes]({settings.PUBLIC_URL}{changes().url}.md)"
    return _join_parts([*parts, "## More", "\n".join([schema, full_text, news])])


@cache
def whole_text() -> str:
    return "\n".join(_every_text())


def _every_text() -> Iterator[str]:
    yield f"# Store Fulfillment\n\n{ABOUT}\n"
    yield from map(guide_text, guides().values())
    yield from (operation_text(operation) for group in groups() for operation in group.operations)
    yield from map(event_text, events().values())


def catalog_text() -> str:
    """The API catalog (RFC 9727) with the links of RFC 8631."""
    link = {
        "anchor": settings.API_URL,
        "service-desc": [{"href": f"{settings.API_URL}/schema", "type": "application/vnd.oai.openapi+json"}],
        "service-doc": [
            {"href": f"{settings.PUBLIC_URL}{ROOT}", "type": "text/html"},
            {"href": f"{settings.PUBLIC_URL}/llms.txt", "type": "text/markdown"},
        ],
        "service-meta": [
            {
                "href": f"{settings.PUBLIC_URL}/.well-known/oauth-authorization-server",
                "type": "application/json",
            }
        ],
    }
    return json.dumps({"linkset": [link]})


def _list_links(pairs: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"- [{title}]({settings.PUBLIC_URL}{url}.md)" for title, url in pairs)


def _list_of(members: Iterable[DescribedMember], depth: int = 0) -> str:
    return "\n".join(line for member in members for line in _lines_of(member, depth))


def _lines_of(member: DescribedMember, depth: int) -> Iterator[str]:
    notes = [member.kind, *(["required"] if member.required else []), *member.limits]
    notes += [f"one of {', '.join(member.values)}"] if member.values else []
    about = re.sub(r"\s+", " ", member.description.source)
    yield f"{'  ' * depth}- `{member.name}` ({'; '.join(notes)}){f': {about}' if about else ''}"
    if member.members:
        yield _list_of(member.members, depth + 1)


def _write_code(language: str, text: str) -> str:
    return f"```{language}\n{text.strip()}\n```" if text else ""


def _join_parts(parts: Iterable[str]) -> str:
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


class Release(NamedTuple):
    version: str
    day: datetime
    text: str


def releases() -> list[Release]:
    """The newest first, as the change log has them."""
    return [
        Release(version, datetime.fromisoformat(day).replace(tzinfo=UTC), text)
        for version, day, text in RELEASE.findall(changes().text)
    ]


@cache
def feed_text() -> str:
    page = f"{settings.PUBLIC_URL}{changes().url}"
    feed = Atom1Feed(
        title="Changes of Store Fulfillment",
        link=page,
        description="",
        author_name="Store Fulfillment",
        feed_url=f"{settings.PUBLIC_URL}/changelog.atom",
        language="en",
    )
    for release in releases():
        feed.add_item(
            title=release.version,
            link=f"{page}#{slug_of(release.version)}",
            description=render_markdown(release.text, guide_link("..")),
            unique_id=f"{settings.PUBLIC_URL}/changelog.atom#{release.version}",
            pubdate=release.day,
            updateddate=release.day,
        )
    return feed.writeString("utf-8")
