"""docs/access.md lists every address that answers without credentials."""

from tests.tools.public_addresses import KNOWN, PAGE, crawl, written


def test_every_public_address_is_listed_and_no_other(world):
    assert crawl() == set(KNOWN)


def test_table_is_the_one_of_the_document():
    page = PAGE.read_text("utf-8")

    assert page == written(page), "run python -m tests.tools.public_addresses"
