"""Large modules that load with their first use, because most processes never need them."""

from importlib import import_module
from typing import Any


class DeferredModule:
    """Stands for a module and has its attributes. Annotations that name them must not be evaluated."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        value = self.__dict__[attribute] = getattr(import_module(self._name), attribute)
        return value
