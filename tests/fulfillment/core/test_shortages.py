"""A process without memory, files or room for temporary ones says so with 503, for programs and people."""

import errno
import os

import pytest
from django.test import Client

from fulfillment.core.errors import find_shortage

SHORT = [
    OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
    OSError(errno.EMFILE, os.strerror(errno.EMFILE)),
    MemoryError(),
    RuntimeError("can't start new thread"),
]


@pytest.mark.parametrize("error", SHORT, ids=repr)
def test_request_is_refused_for_now(world, monkeypatch, error):
    def fail(*ignored, **also):
        raise error

    monkeypatch.setattr("accounts.pages.emails.request_reset_link", fail)
    page = Client().post("/accounts/password-reset/", {"email": "olivia@print.example"})

    assert (page.status_code, page["Retry-After"]) == (503, "5")
    assert "left right now" in page.content.decode()


@pytest.mark.parametrize(
    "error", [OSError(errno.EACCES, "no"), RuntimeError("other"), ValueError()], ids=repr
)
def test_other_errors_are_none_of_these(error):
    assert find_shortage(error) is None
