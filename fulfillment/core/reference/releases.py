"""The releases of the change log as an Atom feed."""

import re
from datetime import UTC, datetime
from functools import cache
from typing import NamedTuple

from django.conf import settings
from django.utils.feedgenerator import Atom1Feed

from fulfillment.core.reference.guides import changes, guide_link
from fulfillment.core.reference.markdown import rendered, slug_of

# "## 0.1.0", then a paragraph that begins with the day. "Unreleased" has none.
RELEASE = re.compile(r"^## (\S+)\n+(\d{4}-\d{2}-\d{2})\. (.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


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
            description=rendered(release.text, guide_link("..")),
            unique_id=f"{settings.PUBLIC_URL}/changelog.atom#{release.version}",
            pubdate=release.day,
            updateddate=release.day,
        )
    return feed.writeString("utf-8")
