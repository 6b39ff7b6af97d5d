"""docs/operating/hardening.md: each line of the units' hardening, what needs what it leaves, and what it forbids.

`python -m tests.support.hardening_page` writes it; a test compares it with the units.
"""

from collections.abc import Iterator
from pathlib import Path

from tests.support.hardening import Unit, read_unit

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "operating" / "hardening.md"
UNITS = {
    name: ROOT / "docs" / "deploy" / f"fulfillment-{name}.service" for name in ("web", "worker", "backup")
}
# After this comment a unit's hardening begins.
BEGIN = "# What a process that was taken over could still do."
APPLIED, KERNEL = "runs below it", "read only: systemd alone can apply it"
HEAD = """# Hardening of the units, and what needs what they leave

Written by `python -m tests.support.hardening_page`. "Runs below it": the slow test
`fulfillment/operations/test_hardening.py` takes the line from the unit, applies it to real processes (system calls by
seccomp, paths by mounts of their own, capabilities by setpriv) and does the whole work below it: a proof, a photo of
50 megapixels, an order, its print files, an icon, an export, a job to an SFTP server and one to a hot folder, a backup.
"""
# Of each name: what it forbids, what needs the rest and would break if it were stricter, and whether a test applies it.
LINES = {
    "NoNewPrivileges": ("gaining rights by a program of root", "nothing", APPLIED),
    "ProtectSystem": (
        "writing outside of ReadWritePaths",
        "nothing; the release and fonts are read",
        APPLIED,
    ),
    "ReadWritePaths": (
        "all other folders",
        "web and worker: `MEDIA_ROOT`, `PRODUCTION_FOLDERS`, `PROMETHEUS_MULTIPROC_DIR` below it; backup: the backups",
        APPLIED,
    ),
    "ProtectHome": ("/home, /root, /run/user", "a release or Python below them would not be found", KERNEL),
    "PrivateTmp": (
        "the /tmp of others",
        "renderers, pictures and uploads have folders of their own in it",
        "in a folder of its own",
    ),
    "PrivateDevices": ("devices but /dev/null, random and the like", "random numbers", KERNEL),
    "ProtectProc": ("processes of other users", "renderers read their own memory in /proc/self", KERNEL),
    "ProtectClock": ("setting the clock", "nothing", KERNEL),
    "ProtectHostname": ("setting the host's name", "nothing; the worker reads it for its heartbeat", KERNEL),
    "ProtectKernelLogs": ("the kernel's log", "nothing", KERNEL),
    "ProtectKernelModules": ("loading modules", "nothing", KERNEL),
    "ProtectKernelTunables": ("writing to /proc/sys and /sys", "nothing", KERNEL),
    "ProtectControlGroups": ("writing to control groups", "nothing", KERNEL),
    "RestrictAddressFamilies": (
        "all sockets but those of IPv4, IPv6 and of files",
        "IPv4 and IPv6: HTTP, PostgreSQL, SFTP, mail, webhooks; files: PostgreSQL, renderers",
        APPLIED,
    ),
    "RestrictNamespaces": ("containers of its own", "nothing", APPLIED),
    "RestrictRealtime": ("real-time priority", "nothing", KERNEL),
    "RestrictSUIDSGID": ("files that run as their owner", "nothing", APPLIED),
    "LockPersonality": ("emulating other systems", "nothing", APPLIED),
    "MemoryDenyWriteExecute": ("code made in memory", "nothing", APPLIED),
    "RemoveIPC": ("shared memory that outlives the unit", "nothing", KERNEL),
    "CapabilityBoundingSet": ("all rights of root", "nothing", APPLIED),
    "AmbientCapabilities": ("all rights of root", "nothing", APPLIED),
    "SystemCallArchitectures": ("programs for other processors", "nothing", KERNEL),
    "SystemCallFilter": (
        "all but what services use, and what only root may",
        "`@resources`: renderers and readers of pictures lower their own priority (`setpriority`) and limit their "
        "memory (`prlimit64`); without it every rendering ends",
        APPLIED,
    ),
    "SystemCallErrorNumber": (
        "nothing: a forbidden call fails with an error instead of ending its process",
        "",
        APPLIED,
    ),
    "UMask": (
        "access of others to new files",
        "web and worker: their group reads them; backup: no other user",
        APPLIED,
    ),
    "LimitNOFILE": ("more open files", "a connection of each client, file and database", APPLIED),
}
# Not in the units, and why.
LEFT_OUT = {
    "PrivateNetwork": "the service answers and sends requests",
    "PrivateUsers": "files belong to the user `fulfillment`, whom others on the machine may have to know",
}


def page() -> str:
    return "\n".join([HEAD, *_table(), "", "Left out:", "", *_left_out(), ""])


def hardening_of(unit: Path) -> Unit:
    """The lines below BEGIN, up to the next section."""
    text = unit.read_text("utf-8").partition(BEGIN)[2].partition("\n[")[0]
    names = {line.partition("=")[0] for line in text.splitlines() if "=" in line and line[0] != "#"}
    return {name: values for name, values in read_unit(unit).items() if name in names}


def _table() -> Iterator[str]:
    yield "| line | units | forbids | what needs the rest | test |"
    yield "|---|---|---|---|---|"
    units = {name: hardening_of(path) for name, path in UNITS.items()}
    for name, (forbids, needed, applied) in LINES.items():
        for line in dict.fromkeys(value for unit in units.values() for value in unit.get(name, [])):
            of = ", ".join(unit for unit, lines in units.items() if line in lines.get(name, []))
            yield f"| `{name}={line}` | {of} | {forbids} | {needed} | {applied} |"


def _left_out() -> Iterator[str]:
    return (f"- `{name}`: {why}." for name, why in LEFT_OUT.items())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
