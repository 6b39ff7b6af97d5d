"""What integrators take: code examples of an API request for curl, Python, and JavaScript or TypeScript, and libraries.

TOKEN and SUBSCRIPTION_KEY are left to the reader's environment: code is pasted into chats.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.urls import reverse

# Where `make clients` puts them in a checkout, or all in one folder.
BUILT = {"python": ("*.whl", "python/dist/*.whl"), "javascript": ("*.tgz", "typescript/*.tgz")}


class Example(NamedTuple):
    language: str
    label: str
    text: str


@dataclass(frozen=True, slots=True)
class ExampleRequest:
    """`result` names the response in the code, `shown` is the member of it that is printed.

    `picture` sends a picture as the body; the response is written to `file_out`.
    """

    method: str
    url: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    picture: bool = False
    file_out: str = ""
    result: str = "response"
    shown: str = ""

    @property
    def whole_url(self) -> str:
        parts = "&".join(f"{name}={value}" for name, value in self.query.items())
        return f"{self.url}?{parts}" if parts else self.url

    @property
    def all_headers(self) -> dict[str, str]:
        media = "image/png" if self.picture else "application/json" if self.body is not None else ""
        return {**self.headers, **({"Content-Type": media} if media else {})}


def request_examples(request: ExampleRequest) -> list[Example]:
    return [
        Example("curl", "curl", _write_curl(request)),
        Example("python", "Python", _write_python(request)),
        Example("typescript", "TypeScript", _write_script(request, key="process.env.SUBSCRIPTION_KEY!")),
    ]


def post_examples(url: str, body: Mapping[str, Any], *, result: str, shown: str) -> list[Example]:
    request = ExampleRequest("POST", url, body=body, result=result, shown=shown)
    script = Example("javascript", "JavaScript", _write_script(request, key="process.env.SUBSCRIPTION_KEY"))
    return [*request_examples(request)[:2], script]


def _write_curl(request: ExampleRequest) -> str:
    lines = [f'curl "{request.whole_url}"']
    sends = request.picture or request.body is not None
    if request.method != ("POST" if sends else "GET"):
        lines.append(f"-X {request.method}")
    lines += ['-H "Authorization: Bearer $TOKEN"', '-H "Ocp-Apim-Subscription-Key: $SUBSCRIPTION_KEY"']
    lines += [f'-H "{name}: {value}"' for name, value in request.all_headers.items()]
    if request.picture:
        lines.append("--data-binary @picture.png")
    elif sends:
        # In single quotes a shell interprets nothing except the quote.
        lines.append("-d '" + _write_json(request.body).replace("'", "'\\''").replace("\n", "\n  ") + "'")
    if request.file_out:
        lines.append(f"-o {request.file_out}")
    return " \\\n  ".join(lines)


def _write_python(request: ExampleRequest) -> str:
    result, headers = request.result, {**request.all_headers}
    arguments = [f'"{request.url}"']
    if request.query:
        arguments.append(f"params={json.dumps(request.query)}")
    if request.picture:
        arguments.append('data=open("picture.png", "rb")')
    elif request.body is not None:
        # `json` sends the media type.
        del headers["Content-Type"]
        arguments.append("json=body")
    lines = [
        "import os",
        "import requests",
        "",
        "headers = {",
        '    "Authorization": f"Bearer {os.environ[\'TOKEN\']}",',
        '    "Ocp-Apim-Subscription-Key": os.environ["SUBSCRIPTION_KEY"],',
        *(f'    "{name}": {json.dumps(value)},' for name, value in headers.items()),
        "}",
        *([f"body = {_write_literal(request.body)}"] if request.body is not None else ()),
        f"{result} = requests.{request.method.lower()}({', '.join(arguments)}, headers=headers, timeout=30)",
        f"{result}.raise_for_status()",
    ]
    if request.file_out:
        return "\n".join([*lines, f'open("{request.file_out}", "wb").write({result}.content)'])
    printed = f'{result}.json()["{request.shown}"]' if request.shown else f"{result}.json()"
    return "\n".join([*lines, f"print({f'{result}.status_code' if request.method == 'DELETE' else printed})"])


def _write_script(request: ExampleRequest, *, key: str) -> str:
    result, lines = request.result, []
    if request.picture or request.file_out:
        lines.append('import { readFile, writeFile } from "node:fs/promises";\n')
    if request.body is not None:
        lines.append(f"const body = {_write_json(request.body)};")
    lines += [
        f'const {result} = await fetch("{request.whole_url}", {{',
        f'  method: "{request.method}",',
        "  headers: {",
        "    Authorization: `Bearer ${process.env.TOKEN}`,",
        f'    "Ocp-Apim-Subscription-Key": {key},',
        *(f'    "{name}": {json.dumps(value)},' for name, value in request.all_headers.items()),
        "  },",
    ]
    if request.picture:
        lines.append('  body: await readFile("picture.png"),')
    elif request.body is not None:
        lines.append("  body: JSON.stringify(body),")
    lines += ["});", f"if (!{result}.ok) throw new Error(await {result}.text());"]
    if request.file_out:
        file = f"new Uint8Array(await {result}.arrayBuffer())"
        return "\n".join([*lines, f'await writeFile("{request.file_out}", {file});'])
    printed = f"(await {result}.json()).{request.shown}" if request.shown else f"await {result}.json()"
    return "\n".join(
        [*lines, f"console.log({f'{result}.status' if request.method == 'DELETE' else printed});"]
    )


def _write_json(body: Any) -> str:
    return json.dumps(body, ensure_ascii=False, indent=2)


def _write_literal(value: Any, depth: int = 0) -> str:
    """A Python literal, laid out as JSON is; strings of JSON are strings of Python, but true, false and null differ."""
    inner, outer = "    " * (depth + 1), "    " * depth
    if isinstance(value, Mapping):
        lines = [
            f"{inner}{_write_literal(str(key))}: {_write_literal(part, depth + 1)},\n"
            for key, part in value.items()
        ]
        return "{\n" + "".join(lines) + outer + "}" if lines else "{}"
    if isinstance(value, list):
        lines = [f"{inner}{_write_literal(part, depth + 1)},\n" for part in value]
        return "[\n" + "".join(lines) + outer + "]" if lines else "[]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


@dataclass(frozen=True, slots=True)
class Package:
    language: str
    path: Path

    @property
    def url(self) -> str:
        return settings.PUBLIC_URL + reverse("portal:client-package", args=[self.path.name])


def packages() -> dict[str, Package]:
    """The newest package of each language; none before `make clients`."""
    newest = {}
    for language, patterns in BUILT.items():
        files = [file for pattern in patterns for file in settings.CLIENT_DOWNLOADS.glob(pattern)]
        if files:
            newest[language] = Package(language, max(files, key=lambda file: file.stat().st_mtime))
    return newest
