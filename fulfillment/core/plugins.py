"""Finds what apps offer to the platform by module name: `retention`, `pages.urls`, `demo`, ...

docs/architecture.md lists the names. The order of apps comes from INSTALLED_APPS, where an app stands after those
that it imports. An app takes part when its configuration is a `ServiceApp`: other packages have modules of such
names for purposes of their own.
"""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from django.apps import AppConfig, apps


class ServiceApp(AppConfig):
    """An app of the service. Import the module, not this class: Django takes each AppConfig in `apps` for a choice."""


def service_apps() -> list[ServiceApp]:
    """The apps of the service, in the order of INSTALLED_APPS."""
    return [app for app in apps.get_app_configs() if isinstance(app, ServiceApp)]


@cache
def offered_modules(name: str) -> tuple[ModuleType, ...]:
    """The module `name` of each app that has one, such as "retention" or "api.routes", in the order of the apps."""
    names = [app.name for app in service_apps()]
    return tuple(import_module(f"{app}.{name}") for app in names if _exists(app, name))


def offered(name: str, attribute: str) -> list[Any]:
    """`attribute` of each of these modules that has it."""
    return [getattr(module, attribute) for module in offered_modules(name) if hasattr(module, attribute)]


def _exists(app: str, name: str) -> bool:
    package, _, rest = name.partition(".")
    found = find_spec(f"{app}.{package}") is not None
    return found and (not rest or _exists(f"{app}.{package}", rest))
