"""Marks pages and actions of lists as dangerous or harmless.

A dangerous one requires a recent confirmation (`accounts.pages.confirmation`), so that a stolen session alone cannot do
it. A page that accepts POST and has no mark is dangerous.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from django.http import HttpRequest
from django.utils.functional import Promise

View = TypeVar("View", bound=Callable[..., Any])
# What a request does, such as "Invite an owner"; empty is harmless.
Effect = str | Promise | Callable[..., str]
READS = {"GET", "HEAD", "OPTIONS"}


class Declared(NamedTuple):
    effect: Effect
    asks_first: bool = False


UNDECLARED = Declared("Continue")


def dangerous(effect: Effect, *, asks_first: bool = False) -> Callable[[View], View]:
    """Marks a page or an action of a list as dangerous: its POST needs a recent confirmation.

    With `asks_first` its form needs one as well, because it shows or takes secrets. A function as `effect` gets the
    request and the arguments of the view, and decides about every method.
    """

    def mark(view: View) -> View:
        view.declared = Declared(effect, asks_first)  # type: ignore[attr-defined]
        return view

    return mark


def harmless(view: View) -> View:
    """Marks a page or an action of a list whose POST a session alone may send."""
    view.declared = Declared("")  # type: ignore[attr-defined]
    return view


def get_declaration(view: Any) -> Declared | None:
    return getattr(view, "declared", None)


def effect_of(view: Any, request: HttpRequest, arguments: dict[str, Any]) -> str:
    """The effect of this request that needs a confirmation, or an empty text."""
    effect, asks_first = get_declaration(view) or UNDECLARED
    if callable(effect):
        return effect(request, **arguments)
    return str(effect) if asks_first or request.method not in READS else ""
