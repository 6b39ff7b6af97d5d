"""Each operation as a request in curl, Python and TypeScript, from the example in its description."""

import json
import pprint
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PLACE = re.compile(r"{(\w+)}")
EXAMPLE_VALUES = {"storeID": "demo", "productID": "business-card-standard", "itemKey": "cards"}
LANGUAGES = (("curl", "curl"), ("python", "Python"), ("typescript", "TypeScript"))


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    url: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any = None
    picture: bool = False
    file_out: str = ""


def samples_of(request: Request) -> list[tuple[str, str, str]]:
    """Identifier and name of each language, and the code."""
    makers = {"curl": _curl, "python": _python, "typescript": _typescript}
    return [(language, label, makers[language](request)) for language, label in LANGUAGES]


def filled_path(path: str) -> str:
    """The path with an example for each parameter: a value of the demo store, or a placeholder."""
    return PLACE.sub(lambda found: EXAMPLE_VALUES.get(found[1], _placeholder(found[1])), path)


def _placeholder(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper()


def _query(request: Request) -> str:
    return "?" + "&".join(f"{name}={value}" for name, value in request.query.items()) if request.query else ""


def _curl(request: Request) -> str:
    lines = [f'curl "{request.url}{_query(request)}"']
    if request.method != "GET" and not (
        request.method == "POST" and (request.body is not None or request.picture)
    ):
        lines.append(f"-X {request.method}")
    lines += ['-H "Authorization: Bearer $TOKEN"', '-H "Ocp-Apim-Subscription-Key: $SUBSCRIPTION_KEY"']
    lines += [f'-H "{name}: {value}"' for name, value in request.headers.items()]
    if request.picture:
        lines += ['-H "Content-Type: image/png"', "--data-binary @picture.png"]
    elif request.body is not None:
        text = json.dumps(request.body, indent=2, ensure_ascii=False).replace("'", "'\\''")
        lines += ['-H "Content-Type: application/json"', f"-d '{text}'"]
    if request.file_out:
        lines.append(f"-o {request.file_out}")
    return " \\\n  ".join(lines)


def _python(request: Request) -> str:
    headers = {**request.headers, **({"Content-Type": "image/png"} if request.picture else {})}
    more = "".join(f'        "{name}": {json.dumps(value)},\n' for name, value in headers.items())
    lines = [
        "import os\n",
        "import requests\n",
        "answer = requests.request(",
        f'    "{request.method}",',
        f'    "{request.url}",',
    ]
    if request.query:
        lines.append(f"    params={json.dumps(request.query)},")
    lines += [
        "    headers={",
        '        "Authorization": f"Bearer {os.environ[\'TOKEN\']}",',
        '        "Ocp-Apim-Subscription-Key": os.environ["SUBSCRIPTION_KEY"],',
        f"{more}    }},",
    ]
    if request.picture:
        lines.append('    data=open("picture.png", "rb"),')
    elif request.body is not None:
        text = pprint.pformat(request.body, width=72, sort_dicts=False)
        lines.append("    json=" + text.replace("\n", "\n    ") + ",")
    lines += ["    timeout=30,", ")", "answer.raise_for_status()"]
    if request.file_out:
        lines.append(f'open("{request.file_out}", "wb").write(answer.content)')
    else:
        lines.append("print(answer.json())" if request.method != "DELETE" else "print(answer.status_code)")
    return "\n".join(lines)


def _typescript(request: Request) -> str:
    headers: Mapping[str, str] = {
        **request.headers,
        **({"Content-Type": "image/png"} if request.picture else {}),
        **({"Content-Type": "application/json"} if request.body is not None else {}),
    }
    lines = (
        ['import { readFile, writeFile } from "node:fs/promises";\n']
        if request.picture or request.file_out
        else []
    )
    lines += [
        f'const answer = await fetch("{request.url}{_query(request)}", {{',
        f'  method: "{request.method}",',
    ]
    lines += ["  headers: {", "    Authorization: `Bearer ${process.env.TOKEN}`,"]
    lines.append('    "Ocp-Apim-Subscription-Key": process.env.SUBSCRIPTION_KEY!,')
    lines += [f'    "{name}": {json.dumps(value)},' for name, value in headers.items()]
    lines.append("  },")
    if request.picture:
        lines.append('  body: await readFile("picture.png"),')
    elif request.body is not None:
        text = json.dumps(request.body, indent=2, ensure_ascii=False).replace("\n", "\n  ")
        lines.append(f"  body: JSON.stringify({text}),")
    lines += ["});", "if (!answer.ok) throw new Error(await answer.text());"]
    if request.file_out:
        lines.append(f'await writeFile("{request.file_out}", new Uint8Array(await answer.arrayBuffer()));')
    else:
        lines.append(
            "console.log(await answer.json());"
            if request.method != "DELETE"
            else "console.log(answer.status);"
        )
    return "\n".join(lines)
