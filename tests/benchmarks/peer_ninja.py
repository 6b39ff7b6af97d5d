"""The same answers through django-ninja."""

import os

from django.core.wsgi import get_wsgi_application

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.benchmarks.ninja_settings"

application = get_wsgi_application()
