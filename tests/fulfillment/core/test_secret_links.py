"""Links that are secrets are masked in logs, because their URL patterns mark themselves."""

import logging
import re

import pytest
from django.urls import get_resolver

from fulfillment.core.http.addresses import PLACE, secret_routes
from fulfillment.core.observability.logs import JsonFormatter

CANARY = "WyI0YmUy.canary:1xVUmE-fsQz_0123456789+~="
# Names that a secret in a path has. `key_id` and `sha256` open nothing by themselves.
NAMES = re.compile(r"<(?!secret:)(?:\w+:)?(\w*(?:token|secret|signature|password)\w*)>")


def routes(patterns=None, prefix="/"):
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        route = prefix + str(pattern.pattern)
        if hasattr(pattern, "url_patterns"):
            yield from routes(pattern.url_patterns, route)
        else:
            yield route


def links():
    marked = sorted(secret_routes(get_resolver().url_patterns))
    return [PLACE.sub(lambda place: CANARY if place[1] == "secret" else "x1", route) for route in marked]


def test_every_secret_in_a_path_is_marked():
    assert len(links()) >= 10
    assert [route for route in routes() if NAMES.search(route)] == []


@pytest.mark.django_db
def test_access_log_holds_no_secret_of_a_link(client, caplog, settings):
    settings.ACCESS_LOG = True
    with caplog.at_level(logging.DEBUG):
        for link in links():
            client.get(link)
            logging.getLogger("x").error("GET https://print.example%s?a=1 failed", link)

    lines = [JsonFormatter().format(record) for record in caplog.records]
    assert len([line for line in lines if "***" in line]) >= 2 * len(links())
    assert [line for line in lines if "canary" in line or "0123456789" in line] == []
