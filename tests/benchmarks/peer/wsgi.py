"""The usual build of the same answers: nested ModelSerializers, prefetch, the toolkit's own authentication class."""

import os

from django.core.wsgi import get_wsgi_application

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.benchmarks.peer.settings"

application = get_wsgi_application()
