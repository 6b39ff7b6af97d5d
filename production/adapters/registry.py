"""The kinds of adapters. Each registers itself when the module `adapters` of its app is imported."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, TypeVar

from fulfillment.core.admin.names import name_form
from fulfillment.core.plugins import offered_modules
from production.interface import Adapter, Ledger
from production.settings_form import SettingsForm

MAX_KIND_LENGTH = 10
_REGISTERED: dict[str, "AdapterKind"] = {}
A = TypeVar("A", bound=Adapter)


@dataclass(frozen=True, slots=True)
class AdapterKind:
    """`purpose` says for whom it is, on the page where an operator chooses one.

    One that `takes_several_items` gets the jobs of an order together (`AdapterJob.together`), to be shipped together.
    """

    label: str
    purpose: str
    settings: type[SettingsForm]
    build: Callable[[Mapping[str, Any], Mapping[str, str], Ledger], Adapter]
    takes_several_items: bool = False


def register(
    kind: str, *, label: str, purpose: str, settings: type[SettingsForm], takes_several_items: bool = False
) -> Callable[[type[A]], type[A]]:
    """Registers a class of adapters under a name that is stored with each provider."""

    def add(adapter: type[A]) -> type[A]:
        if kind in _REGISTERED or not 0 < len(kind) <= MAX_KIND_LENGTH:
            raise ValueError(
                f"The adapter {kind!r} already exists, or its name has more than {MAX_KIND_LENGTH} letters."
            )
        name_form(settings)
        _REGISTERED[kind] = AdapterKind(label, purpose, settings, adapter, takes_several_items)
        return adapter

    return add


@cache
def adapter_kinds() -> Mapping[str, AdapterKind]:
    """Imports `adapters` of each app, a module or a package of modules."""
    for module in offered_modules("adapters"):
        for submodule in iter_modules(getattr(module, "__path__", ())):
            import_module(f"{module.__name__}.{submodule.name}")
    return _REGISTERED


def adapter_kind(kind: str) -> AdapterKind:
    registered = adapter_kinds().get(kind)
    if registered is None:
        raise ValueError(f"There is no adapter {kind!r}; available: {', '.join(adapter_kinds())}.")
    return registered
