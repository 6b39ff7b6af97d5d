"""Lighthouse, for a mobile, on the running service: `python -m tests.benchmarks.lighthouse --tools FOLDER`.

FOLDER is where npm put it (`npm install --prefix FOLDER lighthouse`). Writes the scores between their marks of
docs/performance.md and ends with 1 when one is below its mark.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.benchmarks.documents import write_between
from tests.benchmarks.servers import running
from tests.benchmarks.soak_scene import ROOT, fresh_world, prepare

DOCUMENT = ROOT / "docs" / "performance.md"
CATEGORIES = ("performance", "accessibility", "best-practices")
MIN_SCORE, MAX_KILOBYTES = 95, 60
# The page, and whether somebody is signed in.
PAGES = {
    "/": False,
    "/accounts/login/": False,
    "/applications": True,
    "/catalog/demo/business-card": True,
    "/api/v1/docs": False,
    "/api/v1/docs/operations/order_create": False,
}
CHROME = "--headless=new --no-sandbox --disable-dev-shm-usage"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", type=Path, required=True, help="the folder npm installed lighthouse in")
    program = parser.parse_args().tools / "node_modules" / ".bin" / "lighthouse"
    prepare()
    from tests.factories.orders import make_card

    world = fresh_world()
    make_card(world.demo, "business-card")
    with running("ours") as server:
        reports = {
            path: _report(program, server.url + path, _cookie(world.user) if signed_in else "")
            for path, signed_in in PAGES.items()
        }
    version = next(iter(reports.values()))["lighthouseVersion"]
    lines, over = [], False
    for path, report in reports.items():
        scores = [round(100 * report["categories"][name]["score"]) for name in CATEGORIES]
        kilobytes = report["audits"]["total-byte-weight"]["numericValue"] / 1000
        over |= min(scores) < MIN_SCORE or (path == "/" and kilobytes > MAX_KILOBYTES)
        lines.append(f"| `{path}` | {' | '.join(map(str, scores))} | {kilobytes:.0f} kB |")
    print(*lines, sep="\n")
    _write(version, lines)
    return int(over)


def _report(program: Path, url: str, cookie: str) -> dict[str, Any]:
    browser = shutil.which("chromium") or shutil.which("google-chrome") or ""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(program), url, "--output=json", f"--output-path={folder}/report.json", "--quiet"]
        command += [f"--only-categories={','.join(CATEGORIES)}", f"--chrome-flags={CHROME}"]
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
        f"{os.getloadavg()[0]:.1f}; the server does not compress here. Marks: {MIN_SCORE}, and {MAX_KILOBYTES} kB "
        "for the first page.\n\n"
        "| page | performance | accessibility | best practices | over the wire |\n|---|---|---|---|---|\n"
    )
    write_between(DOCUMENT, "lighthouse", heading + "\n".join(lines) + "\n\n")


if __name__ == "__main__":
    sys.exit(main())
