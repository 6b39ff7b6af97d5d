"""Rules for redirect URIs of applications."""

from collections.abc import Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit

from fulfillment.core.errors import Fault

MAXIMUM_REPLY_URLS = 50
MAXIMUM_LENGTH = 2048


def reply_url_faults(urls: Sequence[str]) -> list[Fault]:
    if len(urls) > MAXIMUM_REPLY_URLS:
        message = f"At most {MAXIMUM_REPLY_URLS} reply URLs are allowed; {len(urls)} were sent."
        return [Fault("/ReplyUrls", "too_many_reply_urls", message)]
    faults = []
    for index, url in enumerate(urls):
        if wrong := _find_mistake(url):
            faults.append(Fault(f"/ReplyUrls/{index}", "reply_url_invalid", f"{url[:100]!r} {wrong}"))
    return faults


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _find_mistake(url: str) -> str:
    if len(url) > MAXIMUM_LENGTH:
        return f"is longer than {MAXIMUM_LENGTH} characters."
    if not url.isascii() or not url.isprintable() or any(character in url for character in ' \\"<>^`{|}'):
        return "holds characters that a URL cannot hold; percent-encode them."
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "is not a URL."
    if not url.startswith(("https://", "http://")) or not parts.hostname:
        return "must be an absolute URL that starts with https://."
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        return "must use https; http is allowed on the loopback address only."
    if "*" in parts.netloc:
        return "names no single host; wildcards are not matched."
    if "#" in url:
        return "must have no fragment."
    if "@" in parts.netloc:
        return "must have no user name or password."
    if port == 0 or parts.netloc.endswith(":"):
        return "has no usable port."
    return ""
