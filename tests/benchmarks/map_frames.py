"""Frames while the mailing map with 2,000 routes is dragged: `python -m tests.benchmarks.map_frames ADDRESS`.

ADDRESS is a service with the demo's data, `--password` that of its user. The answer with the routes in view is replaced
by invented ones. Beside other work the clock says little of a browser that draws by software, so the processor time of
the page's main thread counts.
"""

import argparse
import json
import math
import os
import random
import shutil
import statistics
import sys
from typing import Any

from playwright.sync_api import CDPSession, Page, sync_playwright

ROUTES, MOVES = 2_000, 180
FRAME_MS = 1000 / 60
MISSED = 3
COUNT_FRAMES = """() => {
  window.gaps = [];
  let last = 0;
  const frame = (now) => {
    if (last) window.gaps.push(now - last);
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}"""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("--user", default="user")
    parser.add_argument("--password", required=True)
    options = parser.parse_args()
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(90_000)
        _open_map(page, options)
        gaps, busy = _drag(page, page.context.new_cdp_session(page))
        chromium.close()
    each = busy / len(gaps)
    sys.stdout.write(
        f"{'ok' if each <= FRAME_MS else 'MISSED':6} main thread of a frame: {each:.2f} ms (at most {FRAME_MS:.1f})\n"
        f"       {len(gaps)} frames, by the clock {statistics.median(gaps):.1f} ms apart in the median, 95 % within "
        f"{gaps[int(len(gaps) * 0.95)]:.1f} ms, at load {os.getloadavg()[0]:.1f}\n"
    )
    return MISSED if each > FRAME_MS else 0


def _open_map(page: Page, options: argparse.Namespace) -> None:
    body = json.dumps({"routes": list(map(_route, range(ROUTES)))})
    page.route(
        "**/mailings/routes?*", lambda route: route.fulfill(body=body, content_type="application/json")
    )
    page.goto(f"{options.address}/mailings")
    page.fill("#id_username", options.user)
    page.fill("#id_password", options.password)
    page.click("main button[type=submit]")
    page.locator("#map.leaflet-container").wait_for()
    page.get_by_label("Postal codes").fill("84101 84102 84111")
    page.locator("#map[data-drawn]").wait_for()
    for _ in range(2):
        page.wait_for_timeout(1500)
        page.click(".leaflet-control-zoom-out")
    page.wait_for_timeout(1500)


def _route(number: int) -> dict[str, Any]:
    """One of a field of areas with 20 corners around the demo's ZIP codes."""
    chance = random.Random(number)
    x, y = -112.0 + number % 45 * 0.0048, 40.66 + number // 45 * 0.0036
    ring = [
        [
            round(x + 0.0026 * chance.uniform(0.8, 1.1) * math.cos(step * math.tau / 20), 5),
            round(y + 0.002 * chance.uniform(0.8, 1.1) * math.sin(step * math.tau / 20), 5),
        ]
        for step in range(20)
    ]
    shape = {"type": "Polygon", "coordinates": [[*ring, ring[0]]]}
    facts = {"homes": 500, "firms": 20, "income": 50_000, "age": 40, "household": 2.5}
    return {"code": f"84101C{number:04d}", **facts, "shape": shape}


def _drag(page: Page, session: CDPSession) -> tuple[list[float], float]:
    """The times between frames, and the processor time of the main thread meanwhile, in ms."""
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    box = page.locator("#map").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 5, y + 5)
    page.evaluate(COUNT_FRAMES)
    before = _busy(session)
    for step in range(MOVES):
        page.mouse.move(x + 120 * math.sin(step / 15), y + 80 * math.cos(step / 20))
    busy = _busy(session) - before
    gaps: list[float] = page.evaluate("window.gaps")
    page.mouse.up()
    return sorted(gaps), busy


def _busy(session: CDPSession) -> float:
    metrics = session.send("Performance.getMetrics")["metrics"]
    return next(float(one["value"]) * 1000 for one in metrics if one["name"] == "TaskDuration")


if __name__ == "__main__":
    sys.exit(main())
