"""Installs Medusa and the plug-in as a shop does, in a folder outside of the checkout that is kept for the next run."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.shop.processes import ROOT

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "store-fulfillment"
GUIDE = ROOT / "docs" / "guides" / "medusa.md"
QUIET = ("--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline")


def guide_block(start: str) -> str:
    """The code block of the guide that begins with this: what the guide says is what is tested."""
    blocks = re.findall(r"```(?:sh|js)\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    [found] = [block for block in blocks if block.startswith(start)]
    return str(found)


def npm(*arguments: str, folder: Path) -> None:
    done = subprocess.run(["npm", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(
            f"npm {arguments[0]} failed in {folder}; `make test-shop` needs the npm registry.\n{done.stderr[-2000:]}"
        )


def require_npm() -> None:
    if shutil.which("npm") is None or shutil.which("node") is None:
        raise SystemExit(
            "`make test-shop` needs Node.js 20.19 or newer with npm; neither is part of the suite."
        )


def build_plugin() -> Path:
    """The package file, as `python -m clients.build --only medusa` makes it."""
    folder = CACHE / "plugin"
    # npm does not always repair what an earlier install left.
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    command = [sys.executable, "-m", "clients.build", "--to", str(folder), "--only", "medusa"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(
            f"The plug-in could not be built; its build needs the npm registry.\n{done.stdout}{done.stderr}"
        )
    return Path(done.stdout.strip().splitlines()[-1])


def install_shop(version: str, plugin: Path) -> Path:
    """By the commands of the guide. Medusa itself is installed once."""
    shop = CACHE / f"medusa-{version}"
    shop.mkdir(parents=True, exist_ok=True)
    _, medusa, own, settings = guide_block("mkdir shop").splitlines()
    if not (shop / "installed").exists():
        (shop / "package.json").write_text('{"name": "shop", "private": true, "version": "0.0.1"}')
        npm(*re.sub(r"@[\d.]+(?= |$)", f"@{version}", medusa).split()[1:], *QUIET, folder=shop)
        (shop / "installed").touch()
    npm(*own.replace(own.split()[-1], str(plugin)).split()[1:], "--no-save", *QUIET, folder=shop)
    subprocess.run(["sh", "-c", settings], cwd=shop, check=True)
    (shop / "medusa-config.js").write_text(guide_block("const { defineConfig }"))
    return shop
