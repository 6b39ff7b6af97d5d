"""Writes the generated code and builds both libraries: `make clients`. `--only medusa` builds the plug-in for shops.

With `--to FOLDER` everything happens in a copy there, and the checkout stays as it is.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from clients.generator.document import read_document
from clients.generator.python import write_python
from clients.generator.typescript import write_typescript

FOLDER = Path(__file__).resolve().parent
SCHEMA = FOLDER.parent / "tests" / "openapi.yml"
LEFT_OUT = shutil.ignore_patterns("node_modules", "dist", "build", ".medusa", "__pycache__", "*.egg-info")


def generate(folder: Path) -> None:
    document = read_document(SCHEMA)
    write_python(document, folder / "python" / "src" / "store_fulfillment")
    write_typescript(document, folder / "typescript" / "src")


def copy_sources(folder: Path) -> None:
    for name in ("python", "typescript", "medusa"):
        shutil.copytree(FOLDER / name, folder / name, ignore=LEFT_OUT, dirs_exist_ok=True)


def build_python(folder: Path) -> Path:
    """The wheel, built by what is installed: nothing is fetched."""
    where = folder / "python"
    shutil.rmtree(where / "dist", ignore_errors=True)
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    subprocess.run(command, cwd=where, check=True, stdout=subprocess.DEVNULL)  # noqa: S603
    return next((where / "dist").glob("*.whl"))


def build_typescript(folder: Path) -> Path:
    """The package file for npm; the compiler comes from the registry, as the lock file names it."""
    where = folder / "typescript"
    shutil.rmtree(where / "dist", ignore_errors=True)
    return run_npm(
        where, ["ci", "--no-audit", "--no-fund"], ["run", "build"], ["pack", "--pack-destination", "."]
    )


def build_medusa(folder: Path) -> Path:
    """The plug-in, with the TypeScript library inside. Its build needs Medusa itself: a thousand packages."""
    library, where = build_typescript(folder), folder / "medusa"
    install = ["install", "--no-save", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"]
    return run_npm(where, [*install, str(library)], ["run", "build"], ["pack", "--pack-destination", "."])


def run_npm(where: Path, *commands: list[str]) -> Path:
    npm = shutil.which("npm")
    if npm is None:
        raise SystemExit("npm is not installed; this needs Node.js 20 or newer.")
    environment = {**os.environ, "MEDUSA_DISABLE_TELEMETRY": "1"}
    for arguments in commands:
        command = [npm, "--silent", *arguments]
        subprocess.run(command, cwd=where, check=True, stdout=subprocess.DEVNULL, env=environment)  # noqa: S603
    return next(where.glob("*.tgz"))


BUILDS = {"python": build_python, "typescript": build_typescript, "medusa": build_medusa}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--to", type=Path, default=FOLDER, help="a folder to build in (default: the checkout)"
    )
    parser.add_argument("--only", choices=["python", "typescript", "medusa"], help="build this one")
    options = parser.parse_args()
    folder: Path = options.to.resolve()
    if folder != FOLDER:
        copy_sources(folder)
    generate(folder)
    built = [
        build(folder)
        for name, build in BUILDS.items()
        if name == options.only or (options.only is None and name != "medusa")
    ]
    sys.stdout.write("".join(f"{file}\n" for file in built))


if __name__ == "__main__":
    main()
