"""Writes the generated code and builds both libraries: `make clients`.

With `--to FOLDER` everything happens in a copy there, and the checkout stays as it is.
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from clients.generator.document import read_document
from clients.generator.python import write_python
from clients.generator.typescript import write_typescript

FOLDER = Path(__file__).resolve().parent
SCHEMA = FOLDER.parent / "tests" / "openapi.yml"
LEFT_OUT = shutil.ignore_patterns("node_modules", "dist", "build", "__pycache__", "*.egg-info")


def generate(folder: Path) -> None:
    document = read_document(SCHEMA)
    write_python(document, folder / "python" / "src" / "store_fulfillment")
    write_typescript(document, folder / "typescript" / "src")


def copy_sources(folder: Path) -> None:
    for name in ("python", "typescript"):
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
    npm = shutil.which("npm")
    if npm is None:
        raise SystemExit("npm is not installed; the TypeScript library needs Node.js 20 or newer.")
    for arguments in (
        ["ci", "--no-audit", "--no-fund"],
        ["run", "build"],
        ["pack", "--pack-destination", "."],
    ):
        command = [npm, "--silent", *arguments]
        subprocess.run(command, cwd=where, check=True, stdout=subprocess.DEVNULL)  # noqa: S603
    return next(where.glob("*.tgz"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--to", type=Path, default=FOLDER, help="a folder to build in (default: the checkout)"
    )
    parser.add_argument("--only", choices=["python", "typescript"], help="build one of the two")
    options = parser.parse_args()
    folder: Path = options.to.resolve()
    if folder != FOLDER:
        copy_sources(folder)
    generate(folder)
    built = [
        build(folder)
        for name, build in (("python", build_python), ("typescript", build_typescript))
        if options.only in {None, name}
    ]
    sys.stdout.write("".join(f"{file}\n" for file in built))


if __name__ == "__main__":
    main()
