"""Saves memory: freed blocks go back to the machine, large modules load with their first use."""

import ctypes
from importlib import import_module
from typing import Any

# Numbers of mallopt in glibc.
M_MMAP_THRESHOLD, M_ARENA_MAX = -3, -8
LARGE_BLOCK = 256 * 1024
ARENAS = 2


def return_freed_memory() -> bool:
    """Gives blocks above 256 kB back as soon as they are freed; False where there is no glibc.

    By default glibc raises its threshold to the largest block that was freed, up to 32 MB, and keeps such blocks in an
    arena of each thread: a web process then holds the bodies of all its threads for good.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    return all(mallopt(*option) for option in ((M_MMAP_THRESHOLD, LARGE_BLOCK), (M_ARENA_MAX, ARENAS)))


class DeferredModule:
    """Stands for a module and has its attributes. Annotations that name them must not be evaluated."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        value = self.__dict__[attribute] = getattr(import_module(self._name), attribute)
        return value
