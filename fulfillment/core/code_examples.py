"""Code examples of an API request for curl, Python and JavaScript, from the values that were sent."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple


class Example(NamedTuple):
    language: str
    label: str
    text: str


def post_examples(url: str, body: Mapping[str, Any], *, result: str, shown: str) -> list[Example]:
    """`result` names the answer in the code, `shown` is the member of it that is printed.

    TOKEN and SUBSCRIPTION_KEY are left to the reader's environment: code is pasted into chats.
    """
    return [
        Example("curl", "curl", _curl(url, body)),
        Example("python", "Python", _python(url, body, result, shown)),
        Example("javascript", "JavaScript", _javascript(url, body, result, shown)),
    ]


def _json(body: Mapping[str, Any], indent: int = 2) -> str:
    return json.dumps(body, ensure_ascii=False, indent=indent)


def _curl(url: str, body: Mapping[str, Any]) -> str:
    # In single quotes a shell interprets nothing except the quote.
    data = _json(body).replace("'", "'\\''")
    return "\n".join(
        [
            f"curl {url} \\",
            '  -H "Authorization: Bearer $TOKEN" \\',
            '  -H "Ocp-Apim-Subscription-Key: $SUBSCRIPTION_KEY" \\',
            '  -H "Content-Type: application/json" \\',
            f"  -d '{data}'",
        ]
    )


def _python(url: str, body: Mapping[str, Any], result: str, shown: str) -> str:
    return "\n".join(
        [
            "import os",
            "import requests",
            "",
            "headers = {",
            '    "Authorization": f"Bearer {os.environ[\'TOKEN\']}",',
            '    "Ocp-Apim-Subscription-Key": os.environ["SUBSCRIPTION_KEY"],',
            "}",
            f"body = {_literal(body)}",
            f'{result} = requests.post("{url}", json=body, headers=headers, timeout=30)',
            f"{result}.raise_for_status()",
            f'print({result}.json()["{shown}"])',
        ]
    )


def _javascript(url: str, body: Mapping[str, Any], result: str, shown: str) -> str:
    return "\n".join(
        [
            f"const body = {_json(body)};",
            f'const {result} = await fetch("{url}", {{',
            '  method: "POST",',
            "  headers: {",
            "    Authorization: `Bearer ${process.env.TOKEN}`,",
            '    "Ocp-Apim-Subscription-Key": process.env.SUBSCRIPTION_KEY,',
            '    "Content-Type": "application/json",',
            "  },",
            "  body: JSON.stringify(body),",
            "});",
            f"if (!{result}.ok) throw new Error(await {result}.text());",
            f"console.log((await {result}.json()).{shown});",
        ]
    )


def _literal(value: Any, depth: int = 0) -> str:
    """A Python literal, laid out as JSON is; strings of JSON are strings of Python, but true, false and null differ."""
    inner, outer = "    " * (depth + 1), "    " * depth
    if isinstance(value, Mapping):
        lines = [f"{inner}{_literal(str(key))}: {_literal(one, depth + 1)},\n" for key, one in value.items()]
        return "{\n" + "".join(lines) + outer + "}" if lines else "{}"
    if isinstance(value, list):
        lines = [f"{inner}{_literal(one, depth + 1)},\n" for one in value]
        return "[\n" + "".join(lines) + outer + "]" if lines else "[]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
