import shutil

import pytest
from django.conf import settings


@pytest.fixture(autouse=True)
def _empty_storage():
    """Products get the same primary keys again in every test, and with them the same proofs.

    Tests of other packages in the same process leave files, too.
    """
    shutil.rmtree(settings.MEDIA_ROOT, ignore_errors=True)
    yield
    shutil.rmtree(settings.MEDIA_ROOT, ignore_errors=True)
