"""The service's settings, with style sheets and scripts collected in the folder COLLECTED, as in production."""

import os
from pathlib import Path

from fulfillment.settings import *  # noqa: F403
from fulfillment.settings import STORAGES as _STORAGES

STATIC_ROOT = Path(os.environ["COLLECTED"])
WHITENOISE_USE_FINDERS = WHITENOISE_AUTOREFRESH = False
STORAGES = {**_STORAGES, "staticfiles": {"BACKEND": "fulfillment.site.static_files.StaticFiles"}}
# Lighthouse sends the session in a header, which the browser leaves out as soon as the service sets a cookie: with the
# token in the session, that cookie is the session.
CSRF_USE_SESSIONS = True
