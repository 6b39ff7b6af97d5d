"""The first steps of an application; each app offers its own in a module `onboarding`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """`position` orders the steps of all apps; `address` leads to where it is done."""

    position: int
    title: str
    text: str
    address: str
    is_done: bool
