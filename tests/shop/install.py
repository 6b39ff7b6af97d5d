"""Installs Medusa and the plug-in as a shop does, in a folder outside of the checkout that is kept for the next run."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.shop.processes import ROOT

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "store-fulfillment"
PACKAGES = ("@medusajs/medusa", "@medusajs/cli", "@medusajs/framework", "@medusajs/admin-sdk")
QUIET = ("--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline")
CONFIGURATION = """\
const { defineConfig } = require("@medusajs/framework/utils");

module.exports = defineConfig({
  admin: { disable: process.env.SHOP_ADMIN !== "1" },
  projectConfig: {
    databaseUrl: process.env.DATABASE_URL,
    http: { storeCors: "*", adminCors: "*", authCors: "*", jwtSecret: "shop", cookieSecret: "shop" },
  },
  plugins: ["medusa-plugin-store-fulfillment"],
  modules: [
    {
      resolve: "@medusajs/medusa/fulfillment",
      options: { providers: [{ resolve: "medusa-plugin-store-fulfillment/providers/print", id: "print" }] },
    },
  ],
});
"""


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
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "clients.build", "--to", str(folder), "--only", "medusa"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(
            f"The plug-in could not be built; its build needs the npm registry.\n{done.stdout}{done.stderr}"
        )
    return Path(done.stdout.strip().splitlines()[-1])


def install_shop(version: str, plugin: Path) -> Path:
    shop = CACHE / f"medusa-{version}"
    shop.mkdir(parents=True, exist_ok=True)
    if not (shop / "installed").exists():
        description = {"name": "shop", "private": True, "version": "0.0.1"}
        (shop / "package.json").write_text(json.dumps(description))
        npm("install", *QUIET, *(f"{name}@{version}" for name in PACKAGES), folder=shop)
        (shop / "installed").touch()
    (shop / "medusa-config.js").write_text(CONFIGURATION)
    npm("install", *QUIET, "--no-save", str(plugin), folder=shop)
    return shop
