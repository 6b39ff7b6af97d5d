"""Known weaknesses of the locked packages, without the Internet: `python -m tests.benchmarks.advisories FOLDER`.

FOLDER is a copy of the Python Packaging Advisory Database (github.com/pypa/advisory-database) or any other folder of
OSV records. Ends with 1 when a locked version is among those they name.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from packaging.version import InvalidVersion, Version

ROOT = Path(__file__).resolve().parents[2]
LOCKED = re.compile(r"^([A-Za-z0-9._-]+)(?:\[.*?\])?==([^ ;\\]+)", re.MULTILINE)


def main(folder: Path) -> int:
    locked = {
        _plain(name): Version(version)
        for path in sorted((ROOT / "requirements").glob("*.txt"))
        for name, version in LOCKED.findall(path.read_text("utf-8"))
    }
    records, found, newest = 0, set(), ""
    for record in _records(folder):
        records += 1
        newest = max(newest, str(record.get("modified", "")))
        for affected in () if record.get("withdrawn") else record["affected"]:
            version = locked.get(_plain(affected["package"]["name"]))
            if version and affected["package"]["ecosystem"] == "PyPI" and is_affected(version, affected):
                names = ", ".join([record["id"], *record.get("aliases", ())])
                found.add(f"{affected['package']['name']} {version}: {names}")
    print(*sorted(found), sep="\n")
    print(f"{len(locked)} packages, {records} records up to {newest[:10]}: {len(found)} weaknesses")
    return int(bool(found) or not records)


def _records(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted([*folder.rglob("*.yaml"), *folder.rglob("*.json")]):
        record = yaml.load(path.read_text("utf-8"), yaml.CSafeLoader)
        if isinstance(record, dict) and "affected" in record:
            yield record


def is_affected(version: Version, affected: dict[str, Any]) -> bool:
    """By the list of versions, or by the ranges: of all their events up to the version the last one decides."""
    if str(version) in affected.get("versions", ()):
        return True
    return any(
        _is_inside(version, one["events"]) for one in affected.get("ranges", ()) if one["type"] == "ECOSYSTEM"
    )


def _is_inside(version: Version, events: list[dict[str, str]]) -> bool:
    """`introduced` and `fixed` hold from their version on, `last_affected` ends after its own."""
    steps = [(_version(text), name) for event in events for name, text in event.items()]
    past = [(at, name) for at, name in steps if at < version or (at == version and name != "last_affected")]
    return bool(past) and max(past)[1] == "introduced"


def _version(text: str) -> Version:
    try:
        return Version(text)
    except InvalidVersion:
        return Version("0")


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
