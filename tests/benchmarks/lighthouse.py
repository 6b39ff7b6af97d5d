"""Lighthouse, for a mobile, on the running service: `python -m tests.benchmarks.lighthouse --tools FOLDER`.

FOLDER is where npm put it (`npm install --prefix FOLDER lighthouse`). Writes the scores between their marks of
docs/performance.md and ends with 1 when one is below its mark. Style sheets, scripts and typefaces are served as in
production: collected, named by content and compressed.
"""

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.benchmarks.documents import write_between
from tests.benchmarks.servers import running
from tests.benchmarks.soak_scene import ROOT, fresh_world, prepare

DOCUMENT = ROOT / "docs" / "performance.md"
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
MIN_SCORE, MAX_KILOBYTES = 95, 60
# A page below its mark is visited again: other work on the machine spoils a visit, and can only lower the scores.
VISITS = 3
# The page, and who is signed in, where search engines never come.
PAGES = {
    "/": "",
    "/accounts/login/": "",
    "/applications": "user",
    "/catalog/demo/business-card": "user",
    "/api/v1/docs": "",
    "/api/v1/docs/operations/order_create": "",
    "/admin/": "operator",
    "/admin/stores/order/": "operator",
    "/admin/stores/product/": "operator",
    "/admin/audit/": "operator",
}
CHROME = "--headless=new --no-sandbox --disable-dev-shm-usage"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", type=Path, required=True, help="the folder npm installed lighthouse in")
    program = parser.parse_args().tools / "node_modules" / ".bin" / "lighthouse"
    prepare()
    from tests.factories.orders import make_card
    from tests.support.console_fixtures import place_orders

    world = fresh_world()
    make_card(world.demo, "business-card")
    place_orders(world)
    with _collected() as environment, running("ours", environment=environment) as server:
        reports = {
            path: _best(program, server.url + path, _cookie(getattr(world, name)) if name else "")
            for path, name in PAGES.items()
        }
    version = next(iter(reports.values()))["lighthouseVersion"]
    lines, over = [], False
    for path, report in reports.items():
        scores = {name: round(100 * one["score"]) for name, one in report["categories"].items()}
        kilobytes = report["audits"]["total-byte-weight"]["numericValue"] / 1000
        over |= _lowest(report) < MIN_SCORE or (path == "/" and kilobytes > MAX_KILOBYTES)
        cells = [str(scores.get(name, "–")) for name in CATEGORIES]
        lines.append(f"| `{path}` | {' | '.join(cells)} | {kilobytes:.0f} kB |")
    print(*lines, sep="\n")
    _write(version, lines)
    return int(over)


@contextlib.contextmanager
def _collected() -> Iterator[dict[str, str]]:
    """The environment of a server that serves files as in production."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {"DJANGO_SETTINGS_MODULE": "tests.benchmarks.collected_settings", "COLLECTED": folder}
        command = [sys.executable, "manage.py", "collectstatic", "--no-input", "--verbosity", "0"]
        subprocess.run(command, env=os.environ | environment, cwd=ROOT, check=True)
        yield environment


def _best(program: Path, url: str, cookie: str) -> dict[str, Any]:
    best: dict[str, Any] = {}
    for visit in range(VISITS):
        try:
            report = _report(program, url, cookie)
        except subprocess.CalledProcessError:
            # Lighthouse itself gives a visit up on a busy machine.
            if visit + 1 == VISITS and not best:
                raise
            continue
        if not best or _lowest(report) > _lowest(best):
            best = report
        print(url, _lowest(report), f"load {os.getloadavg()[0]:.1f}", flush=True)
        if _lowest(best) >= MIN_SCORE:
            break
    return best


def _lowest(report: dict[str, Any]) -> int:
    return min(round(100 * one["score"]) for one in report["categories"].values())


def _report(program: Path, url: str, cookie: str) -> dict[str, Any]:
    browser = shutil.which("chromium") or shutil.which("google-chrome") or ""
    categories = [name for name in CATEGORIES if name != "seo" or not cookie]
    with tempfile.TemporaryDirectory() as folder:
        command = [str(program), url, "--output=json", f"--output-path={folder}/report.json", "--quiet"]
        command += [f"--only-categories={','.join(categories)}", f"--chrome-flags={CHROME}"]
        command += [f"--extra-headers={json.dumps({'Cookie': cookie})}"] if cookie else []
        subprocess.run(command, env=os.environ | {"CHROME_PATH": browser}, check=True, timeout=300)
        report: dict[str, Any] = json.loads(Path(folder, "report.json").read_text("utf-8"))
    assert report["finalDisplayedUrl"] == url, report["finalDisplayedUrl"]
    return report


def _cookie(user: Any) -> str:
    from django.test import Client

    browser = Client()
    browser.force_login(user)
    return f"sessionid={browser.cookies['sessionid'].value}"


def _write(version: str, lines: list[str]) -> None:
    heading = (
        f"\nLighthouse {version}, mobile, by `python -m tests.benchmarks.lighthouse`, at load "
        f"{os.getloadavg()[0]:.1f}; files are served as in production; the best of at most {VISITS} visits. "
        f"Marks: {MIN_SCORE}, and {MAX_KILOBYTES} kB for the first page.\n\n"
        "| page | performance | accessibility | best practices | SEO | over the wire |\n|---|---|---|---|---|---|\n"
    )
    write_between(DOCUMENT, "lighthouse", heading + "\n".join(lines) + "\n\n")


if __name__ == "__main__":
    sys.exit(main())
