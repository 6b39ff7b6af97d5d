"""What people and integrators read, in one listing for editors."""

from tests.tools.sentences import LISTING, listing


def test_listing_holds_every_sentence_of_the_sources():
    # `make messages` writes it.
    assert LISTING.read_text("utf-8") == listing()
