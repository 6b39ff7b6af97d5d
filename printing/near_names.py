"""Suggests the name in a list that is closest to a misspelt one."""

from collections.abc import Collection
from difflib import get_close_matches

# Only of so many names, and none longer: comparing takes time.
COMPARED, LONGEST = 5, 40


def near_name(name: str, allowed: Collection[str]) -> str | None:
    """The same letters in another case or with other separators, else a small misspelling."""
    if len(name) > LONGEST:
        return None
    folded = {_folded(one): one for one in allowed}
    if found := folded.get(_folded(name)):
        return found
    close = get_close_matches(_folded(name), folded, n=1, cutoff=0.75)
    return folded[close[0]] if close else None


def did_you_mean(name: str, allowed: Collection[str]) -> str:
    """A sentence behind another one, or nothing."""
    found = near_name(name, allowed)
    return f" Did you mean {found}?" if found else ""


def _folded(name: str) -> str:
    return name.casefold().replace("_", "").replace("-", "").replace(" ", "")
