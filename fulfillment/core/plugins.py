"""Finds what apps offer to the platform by module name, and the data types of what they offer.

docs/architecture.md lists the names: `operations`, `page_urls`, `demo`, ... The order of apps comes from
INSTALLED_APPS, where an app stands after those that it imports. An app takes part when its configuration is a
`ServiceApp`: other packages have modules of such names for purposes of their own.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
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
    """The module `name` of each app that has one, such as "operations", in the order of the apps."""
    names = [f"{app.name}.{name}" for app in service_apps()]
    return tuple(import_module(module) for module in names if find_spec(module) is not None)


def offered_values(name: str, attribute: str) -> list[Any]:
    """`attribute` of each of these modules that has it."""
    return [getattr(module, attribute) for module in offered_modules(name) if hasattr(module, attribute)]


@dataclass
class DemoRun:
    """The result of loading the demo: `people` by user name, and the `application` if this run made or reset it."""

    people: dict[str, Any] = field(default_factory=dict)
    application: Any = None


@dataclass(frozen=True)
class DemoCard:
    """The output of `make run`: (role, username, password) and a command to paste."""

    sign_ins: list[tuple[str, str, str]]
    curl: str


@dataclass(frozen=True, slots=True)
class OnboardingStep:
    """`position` orders the steps of all apps; `address` leads to where it is done."""

    position: int
    title: str
    text: str
    address: str
    is_done: bool


@dataclass(frozen=True, slots=True)
class MenuItem:
    """A link of the menu to the list of a model, "app.model". Entries are ordered by `position`.

    A `minor` entry moves to the page *System* if the menu would be too long. If a group has the name of an entry, the
    group's lists are tabs of that entry's page.
    """

    group: str
    name: str
    icon: str
    model: str
    position: int
    minor: bool = False


@dataclass(frozen=True, slots=True)
class DashboardCard:
    """A card of the start page; its template gets `context` as `card`."""

    template: str
    context: Mapping[str, Any]
    position: int


@dataclass(frozen=True, slots=True)
class Attention:
    """A problem that needs a decision: "3" "orders are late", with a link to the list.

    Apps offer none for a count of zero. The smaller `position`, the more urgent.
    """

    count: int
    words: str
    address: str
    position: int
    detail: str = ""
    # Counts stop here.
    is_at_least: bool = False


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A result of the console's search. Results stand in the order of `rank`: see `fulfillment.core.admin.search`."""

    kind: str
    title: str
    detail: str
    address: str
    rank: int
