import signal

import pytest

from fulfillment.core.errors import Unavailable
from printing import bounded


def test_killed_renderer_is_an_error_of_the_service():
    with pytest.raises(bounded.RendererKilled, match="Try again") as refused:
        bounded.refuse_killed(-signal.SIGKILL)

    error = refused.value
    assert isinstance(error, Unavailable)
    assert (error.status, error.code, error.retry_after) == (503, "renderer_killed", 5)
