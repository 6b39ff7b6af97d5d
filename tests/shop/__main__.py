"""`make test-shop`: npm's Medusa, PostgreSQL and the service on loopback, and a shop order that ends as a parcel."""

import argparse
import sys
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.shop.admin_pages import check_pages
from tests.shop.checks import CHECKS
from tests.shop.faults import check_faults, check_time
from tests.shop.install import build_plugin, install_shop, require_npm
from tests.shop.scene import Scene, scene

VERSIONS = ("2.21.2", "2.20.1")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--medusa", nargs="+", default=VERSIONS, help="its versions (default: %(default)s)")
    parser.add_argument(
        "--orders", type=int, default=20, help="with faults between both sides (default: %(default)s)"
    )
    parser.add_argument(
        "--screenshots", type=Path, help="look at the pages in Chromium, and put pictures there"
    )
    parser.add_argument("--only", nargs="+", default=[""], help="checks with one of these in their names")
    options = parser.parse_args()
    require_npm()
    plugin = build_plugin()
    checks: list[Callable[[Scene], None]] = [*CHECKS]
    if options.screenshots:
        checks.append(partial(check_pages, folder=options.screenshots))
    if options.orders:
        checks.append(partial(check_time, count=20))
        checks.append(partial(check_faults, count=options.orders))
    checks = [check for check in checks if any(words in name_of(check) for words in options.only)]
    failed = 0
    for version in options.medusa:
        print(f"Medusa {version}", flush=True)
        with scene(install_shop(version, plugin), has_pages=bool(options.screenshots)) as found:
            failed += sum(not passes(check, found) for check in checks)
    total = len(checks) * len(options.medusa)
    print(f"{total - failed} passed, {failed} failed")
    return bool(failed)


def name_of(check: Callable[[Scene], None]) -> str:
    name: str = (check.func if isinstance(check, partial) else check).__name__
    return name.removeprefix("check_").replace("_", " ")


def passes(check: Callable[[Scene], None], found: Scene) -> bool:
    name, began = name_of(check), time.monotonic()
    try:
        check(found)
    except Exception:  # noqa: BLE001  # the next check is made, whatever broke this one
        print(f"  FAILED {name}\n{traceback.format_exc()}", flush=True)
        return False
    print(f"  {name} ({time.monotonic() - began:.0f} s)", flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main())
