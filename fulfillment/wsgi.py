# ruff: noqa: E402 - a worker that is stopped while it loads all this must end
from fulfillment.site.draining import drain_before_stop, end_while_loading

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
from django.core.exceptions import ImproperlyConfigured

from fulfillment.core.observability.telemetry import start_telemetry
from fulfillment.core.plugins import offered_values

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "fulfillment.settings")

try:
    django.setup()
    start_telemetry()
    from fulfillment.operations.backups.restoring import refuse_interrupted_restore

    refuse_interrupted_restore()
    for check in offered_values("operations", "before_start"):
        check()
except ImproperlyConfigured as error:
    sys.exit(str(error))
# After the settings: prometheus_client looks once, when it is imported, where the processes share their metrics.
from fulfillment.site.handler import Handler
from fulfillment.site.unread_bodies import announcing_close

application = announcing_close(Handler())
drain_before_stop()

# How long a thread waits at most for its turn, as after every statement; Python's default is 5 ms.
sys.setswitchinterval(0.001)
# What is loaded stays: the garbage collector never looks through it again, which would hold up all requests of the
# process. So the views are loaded here, which also spares the first request that.
import_module(settings.ROOT_URLCONF)
gc.freeze()
gc.enable()
