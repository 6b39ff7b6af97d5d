"""Separates test data from live data, for every query of records with a mode."""

from django.db.models import Q

from accounts.callers import Caller


def in_mode(caller: Caller, field: str = "is_test") -> Q:
    """A filter for records of the modes visible to the caller.

    `field` leads to the mode of the record, as `application__is_test`. Never combine it with `|`: an empty Q would
    have no effect.
    """
    return Q() if len(caller.modes) > 1 else Q(**{field: caller.modes[0]})


def in_mode_of_new(caller: Caller) -> Q:
    """A filter for records that a new record of the caller may use: those of the same mode."""
    return Q(is_test=caller.is_test)
