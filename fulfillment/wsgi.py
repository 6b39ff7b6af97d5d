import os
from typing import Any

import django
from django.core.cache import close_caches
from django.core.signals import request_finished, request_started
from django.db import DEFAULT_DB_ALIAS, close_old_connections, connections, reset_queries

from fulfillment.handler import Handler
from fulfillment.telemetry import start_telemetry

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "fulfillment.settings")

django.setup()
start_telemetry()
application = Handler()


def renew_connection(**signal: Any) -> None:
    """Before a request: a connection that is too old or broke is closed, and the next statement opens a new one."""
    connections[DEFAULT_DB_ALIAS].close_if_unusable_or_obsolete()


# Django looks over every connection and cache before and after each request, a tenth of what a read costs.
# There is one database here, caches that need no closing, and no log of queries outside of DEBUG.
request_started.disconnect(reset_queries)
request_started.disconnect(close_old_connections)
request_finished.disconnect(close_old_connections)
request_finished.disconnect(close_caches)
request_started.connect(renew_connection)
