"""The systemd units of docs/deploy as they are written."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
UNITS = {
    name: ROOT / "docs" / "deploy" / f"fulfillment-{name}.service" for name in ("web", "worker", "backup")
}
# `systemd-analyze syscall-filter` of systemd 252: a set, and what it holds.
SETS = ROOT / "tests" / "fulfillment" / "operations" / "data" / "syscall_sets.txt"
# After this comment a unit's hardening begins.
BEGIN = "# What a process that was taken over could still do."

Unit = Mapping[str, Sequence[str]]


def read_unit(path: Path) -> dict[str, list[str]]:
    """The lines of a unit by their names, in their order."""
    lines: dict[str, list[str]] = {}
    for line in path.read_text("utf-8").splitlines():
        if "=" in line and not line.startswith(("#", ";", "[")):
            name, _, value = line.partition("=")
            lines.setdefault(name, []).append(value)
    return lines


def hardening_of(path: Path) -> dict[str, list[str]]:
    """The lines below BEGIN, up to the next section."""
    text = path.read_text("utf-8").partition(BEGIN)[2].partition("\n[")[0]
    names = {line.partition("=")[0] for line in text.splitlines() if "=" in line and line[0] != "#"}
    return {name: values for name, values in read_unit(path).items() if name in names}


def is_set(unit: Unit, name: str) -> bool:
    return unit.get(name, ["no"])[-1] not in {"no", ""}


def allowed_calls(unit: Unit) -> set[str]:
    """The names of system calls that its SystemCallFilter lines leave."""
    allowed: set[str] = set()
    for line in unit.get("SystemCallFilter", []):
        names = {name for word in line.removeprefix("~").split() for name in calls_of(word)}
        allowed = allowed - names if line.startswith("~") else allowed | names
    # systemd always allows these.
    return allowed | calls_of("@default")


def calls_of(word: str) -> frozenset[str]:
    """The system calls of a set, or the one of this name."""
    return frozenset(
        name
        for entry in sets().get(word, (word,))
        for name in ([entry] if entry == word else calls_of(entry))
    )


@cache
def sets() -> dict[str, list[str]]:
    lines = (line.split() for line in SETS.read_text("utf-8").splitlines())
    return {name: names for name, *names in lines}
