# ruff: noqa: E402 - a worker that is stopped while it loads all this must end
from fulfillment.site.draining import closing_connections, drain_before_stop, end_while_loading

end_while_loading()

from fulfillment.core.memory import return_freed_memory

return_freed_memory()

import gc

# Nothing that is loaded here becomes garbage; looking for it takes a sixth of the time.
gc.disable()

import os
import sys
from importlib import import_module

import django
from django.conf import settings
from django.core.cache import close_caches
from django.core.exceptions import ImproperlyConfigured
from django.core.handlers.base import reset_urlconf
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, reset_queries

from fulfillment.core.observability.telemetry import start_telemetry
from fulfillment.operations.start import refuse_unsafe_start

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "fulfillment.settings")

try:
    django.setup()
    start_telemetry()
    refuse_unsafe_start()
except ImproperlyConfigured as error:
    sys.exit(str(error))
# After the settings: prometheus_client looks once, when it is imported, where the processes share their metrics.
from fulfillment.site.handler import Handler

application = closing_connections(Handler())


# Django's own receivers check all connections and caches at each request: a tenth of the cost of a read.
# There is one database here, which the handler looks after, caches that need no closing, no log of queries outside of
# DEBUG, and one URL configuration.
request_started.disconnect(reset_queries)
request_started.disconnect(close_old_connections)
request_finished.disconnect(close_old_connections)
request_finished.disconnect(close_caches)
request_finished.disconnect(reset_urlconf)
drain_before_stop()

# How long a thread waits at most for its turn, as after every statement; Python's default is 5 ms.
sys.setswitchinterval(0.001)
# What is loaded stays: the garbage collector never looks through it again, which would hold up all requests of the
# process. So the views are loaded here, which also spares the first request that.
import_module(settings.ROOT_URLCONF)
gc.freeze()
gc.enable()
