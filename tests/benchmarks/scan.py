"""wapiti and sqlmap against the running service: `python -m tests.benchmarks.scan --tools FOLDER`.

FOLDER holds their programs, as of an environment of their own: `pip install wapiti3 sqlmap`. Everything stays on
loopback and every scan ends by itself. Ends with 1 when one finds something or the service answers a 5xx.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.servers import running
from tests.benchmarks.soak_scene import ROOT, fresh_world, prepare

# Those that need no server of the scanner's makers, and no list of files of other software. csrf is for `--modules`.
MODULES = (
    "cookieflags,crlf,csp,exec,file,htaccess,http_headers,ldap,methods,permanentxss,redirect,shellshock,"
    "sql,timesql,upload,xss"
)
# What would end the scanner's own credentials.
EXCLUDED = (
    "/logout/",
    "/accounts/password-change/",
    "regenerate",
    "/profile/keys",
    "/profile/two-factor",
    "/profile/password",
    "/oauth/revoke",
)
# What is scanned speaks http; in production cookies are Secure by their names' prefix, as test_settings.py shows.
OF_HTTP = {"Secure Flag cookie"}
# Of the console: those with filters of our own, and one of each other kind.
LISTS = {
    "stores/order": "q=a&o=1&status__exact=10&store=1&created_from=2026-01-01&created_to=2036-01-01",
    "accounts/user": "q=a&is_active__exact=1&o=1",
    "accounts/associationrequest": "q=a&state=Pending",
    "accounts/roleevent": "q=a&pgh_label=insert&pgh_created_at__gte=2026-01-01",
    "applications/delivery": "q=a&webhook=1",
    "applications/webhook": "q=a&health=failing",
    "stores/quote": "q=a&store=1",
    "procrastinate/procrastinatejob": "q=a&status__exact=todo",
}
INJECTABLE = re.compile(r"identified the following injection point|is vulnerable|appears to be .* injectable")
ORDER = {
    "Recipient": {
        "Name": "Dana Whitfield",
        "Address1": "1200 17th Street",
        "City": "Denver",
        "State": "CO",
        "PostalCode": "80202",
        "CountryCode": "US",
    },
    "Items": [{"ProductID": "card", "Quantity": 100}],
}
CLEAN = "do not appear to be injectable"
SERVER_ERROR = re.compile(r'"status": 5\d\d|Traceback')


@dataclass(frozen=True)
class Scan:
    name: str
    command: list[str]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", type=Path, required=True, help="the folder of wapiti and sqlmap")
    parser.add_argument("--minutes", type=float, default=10, help="of one scan at most")
    parser.add_argument("--only", action="append", help="scans whose name begins with this; else all")
    parser.add_argument("--modules", default=MODULES, help="of wapiti, with commas")
    parser.add_argument("--level", type=int, default=2, help="of sqlmap: 1 tries fewer kinds of injection")
    parser.add_argument("--reports", type=Path, help="where to leave what they say; else a folder that goes")
    parser.add_argument(
        "--resume", action="store_true", help="leave out what ended without findings in --reports"
    )
    asked = parser.parse_args()
    found, said = _scan(asked)
    answered = Counter(match[1] for line in said if (match := re.search(r'"status": (\d)\d\d', line)))
    broken = [line for line in said if SERVER_ERROR.search(line)]
    print(
        f"answers by their first digit: {dict(sorted(answered.items()))}; {len(broken)} of them 5xx or errors"
    )
    print(*found, *(line[:300] for line in broken[:20]), sep="\n")
    return int(bool(found or broken))


def _scan(asked: argparse.Namespace) -> tuple[list[str], list[str]]:
    """What was found, and what the service wrote meanwhile."""
    world = _world()
    environment = {"ACCESS_LOG": "1", "LOG_FORMAT": "json"}
    environment |= dict.fromkeys(("SIGN_IN_TRIES_PER_ACCOUNT", "SIGN_IN_TRIES_PER_ADDRESS"), "1000000000")
    with tempfile.TemporaryDirectory() as folder:
        reports = asked.reports or Path(folder)
        reports.mkdir(exist_ok=True)
        with (
            (reports / "service.log").open("wb") as log,
            running("ours", workers=2, environment=environment, log=log) as server,
        ):
            scans = [*_wapiti(asked, server.url, world, reports), *_sqlmap(asked, server.url, world, reports)]
            wanted = [scan for scan in scans if scan.name.startswith(tuple(asked.only or [""]))]
            if asked.resume:
                wanted = [scan for scan in wanted if not _ended(scan, reports).exists()]
            found = [line for scan in wanted for line in _run(scan, asked.minutes, reports)]
        return found, (reports / "service.log").read_text("utf-8", "replace").splitlines()


def _world() -> Any:
    prepare()
    from delivery.datasets.services.demo import load_demo_population

    world = fresh_world()
    load_demo_population()
    world.as_application().call("POST", "/store/associated/order", ORDER)
    return world


def _wapiti(asked: argparse.Namespace, url: str, world: Any, reports: Path) -> Iterator[Scan]:
    common = [
        str(asked.tools / "wapiti"),
        "-m",
        asked.modules,
        "-f",
        "json",
        "--flush-session",
        "--no-bugreport",
        "-v",
        "0",
    ]
    # A quarter of the time to look around, the rest for the modules, one after the other; half of them end at once.
    seconds = asked.minutes * 60
    a_module = seconds * 0.75 / (asked.modules.count(",") + 1) * 2
    common += ["--max-scan-time", f"{seconds / 4:.0f}", "--max-attack-time", f"{a_module:.0f}"]
    common += ["--store-session", str(reports / "wapiti"), "-t", "10", "--scope", "folder"]
    for path in EXCLUDED:
        common += ["-x", f"{url}*{path}*"]
    user, operator = (_cookie(person) for person in (world.user, world.operator))
    api = [word for name, value in _credentials(world).items() for word in ("-H", f"{name}: {value}")]
    described = ["--swagger", str(ROOT / "tests" / "openapi.yml")]
    for name, start, options in (
        ("wapiti-portal-signed-out", f"{url}/", []),
        # The user is staff of a store: the console's many pages would leave no time for the portal's.
        ("wapiti-portal-signed-in", f"{url}/", ["-C", user, "-x", f"{url}/admin/*"]),
        # But for its own page, where it would make itself none.
        (
            "wapiti-admin",
            f"{url}/admin/",
            ["-C", operator, "-x", f"{url}/admin/accounts/user/{world.operator.pk}/*"],
        ),
        ("wapiti-api-signed-out", f"{url}/api/v1/", described),
        ("wapiti-api", f"{url}/api/v1/", [*api, *described]),
    ):
        yield Scan(name, [*common, "-u", start, "-o", str(reports / f"{name}.json"), *options])


def _sqlmap(asked: argparse.Namespace, url: str, world: Any, reports: Path) -> Iterator[Scan]:
    from tests.factories.webhooks import make_webhook

    common = [str(asked.tools / "sqlmap"), "--batch", "--risk", "2", "--dbms", "PostgreSQL"]
    common += [
        *("--level", str(asked.level)),
        "--disable-coloring",
        "--flush-session",
        "--output-dir",
        str(reports / "sqlmap"),
    ]
    common += ["--ignore-code", "*", "--time-limit", str(int(asked.minutes * 60))]
    headers = "\n".join(f"{name}: {value}" for name, value in _credentials(world).items())
    as_user = ["--headers", headers]
    as_person = ["--cookie", _cookie(world.user)]
    webhook = f"{url}/applications/{world.application.pk}/webhooks/{make_webhook(world.application).pk}"
    as_operator = ["--cookie", _cookie(world.operator)]
    api = f"{url}/api/v1"
    export = (
        "skip=0&take=10&status=10&createdAfter=2026-01-01T00:00:00Z&createdBefore=2036-01-01T00:00:00Z"
        "&productID=card&orderNumber=10000001"
    )
    order = json.dumps(
        {"Recipient": {"Name": "A*", "PostalCode": "80202*"}, "Items": [{"ProductID": "card*"}]}
    )
    for name, options in {
        "export": ["-u", f"{api}/store/associated/order/exportview?{export}", *as_user],
        "delivery": ["-u", f"{api}/delivery/eddm?postalCodes=80202&format=json", *as_user],
        "store": ["-u", f"{api}/store/associated*/product/card*", *as_user],
        "application": ["-u", f"{api}/application?verbose=true&skip=0&take=10", *as_user],
        "events": ["-u", f"{api}/application/{world.application.pk}/event?after=x&take=10", *as_user],
        "order": ["-u", f"{api}/store/associated/order", "--data", order, *as_user],
        "token": [
            "-u",
            f"{url}/oauth/token",
            "--data",
            "grant_type=client_credentials&client_id=a&client_secret=b",
        ],
        "sign-in": [
            *(
                "-u",
                f"{url}/accounts/login/",
                "--data",
                "username=a&password=b&csrfmiddlewaretoken=x",
                "-p",
                "username,password",
            ),
            *("--csrf-token", "csrfmiddlewaretoken"),
        ],
        "credentials": [
            "-u",
            f"{api}/store",
            "--headers",
            "Authorization: Bearer x*\nOcp-Apim-Subscription-Key: y*",
        ],
        **{
            f"admin-{path.partition('/')[2]}": ["-u", f"{url}/admin/{path}/?{query}", *as_operator]
            for path, query in LISTS.items()
        },
        "portal": ["-u", f"{url}/applications?q=a&page=1", *as_person],
        "portal-delivery-log": ["-u", f"{webhook}?state=Failed&before=1", *as_person],
        "portal-key": ["-u", f"{url}/applications/{world.application.pk}/keys?reveal=1", *as_person],
    }.items():
        # A form's token goes with its cookie, and cannot be fetched in several threads.
        how = [] if "--csrf-token" in options else ["--threads", "2", "--drop-set-cookie"]
        yield Scan(f"sqlmap-{name}", [*common, *how, *options])


def _run(scan: Scan, minutes: float, reports: Path) -> list[str]:
    """What it found, in words; a scan that could not be done is a finding as well."""
    try:
        done = subprocess.run(
            scan.command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=minutes * 60 + 120,
            check=False,
        )
    except subprocess.TimeoutExpired:
        print(f"{scan.name}: did not end", flush=True)
        return [f"FAILED: {scan.name} did not end"]
    (reports / f"{scan.name}.log").write_text(done.stdout)
    if scan.name.startswith("sqlmap"):
        found = _found_by_sqlmap(done.stdout)
    else:
        found = list(_found_by_wapiti(reports / f"{scan.name}.json"))
    print(f"{scan.name}: {len(found)} findings", flush=True)
    if not found:
        _ended(scan, reports).touch()
    return [f"FAILED: {scan.name}: {one}" for one in found]


def _ended(scan: Scan, reports: Path) -> Path:
    return reports / f"{scan.name}.ended"


def _found_by_sqlmap(said: str) -> list[str]:
    # It ends with this only when every parameter has been tried, and what it suspected meanwhile was nothing.
    if CLEAN in said:
        return []
    found = [line for line in said.splitlines() if INJECTABLE.search(line)]
    return found or [f"it did not come to its end: {said[-300:]}"]


def _found_by_wapiti(path: Path) -> Iterator[str]:
    if not path.exists():
        yield "it left no report"
        return
    report = json.loads(path.read_text("utf-8"))
    print(f"   {report['infos']['crawled_pages_nbr']} pages crawled")
    for kind in ("vulnerabilities", "anomalies"):
        for name, found in report[kind].items():
            for one in () if name in OF_HTTP else found:
                yield f"{name}: {one['method']} {one['path']} {one['parameter']}: {one['info']}"


def _credentials(world: Any) -> dict[str, str]:
    client = world.as_user(world.user)
    return {"Authorization": f"Bearer {client.token}", "Ocp-Apim-Subscription-Key": client.key}


def _cookie(user: Any) -> str:
    """With that of the forms' tokens, which wapiti would not keep beside one it is given."""
    from django.test import Client

    browser = Client()
    browser.force_login(user)
    browser.get("/profile")
    return "; ".join(f"{name}={browser.cookies[name].value}" for name in ("sessionid", "csrftoken"))


if __name__ == "__main__":
    sys.exit(main())
