"""Which texts are web addresses."""

from unittest.mock import Mock

from fulfillment.core import web_addresses
from fulfillment.core.web_addresses import MAX_LENGTH, split_url, web_address


def test_long_address_is_refused_before_it_is_read(monkeypatch):
    """Its host would be normalized, in quadratic time."""
    shortest = "https://example.com/"
    assert web_address(shortest.ljust(MAX_LENGTH, "a"))

    monkeypatch.setattr(web_addresses, "urlsplit", Mock(side_effect=AssertionError))

    assert split_url(shortest.ljust(MAX_LENGTH + 1, "a")) is None
