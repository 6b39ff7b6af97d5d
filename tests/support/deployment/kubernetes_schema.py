"""The API of Kubernetes as a JSON schema, for the kinds of objects that docs/deploy/kubernetes has.

The file comes from PyPI's kubernetes-validate (Apache 2.0), which is 108 MB when installed: too much for the tests.
`python -m tests.support.deployment.kubernetes_schema FOLDER` writes it again from a folder `v1.*-local-strict` of
that package.
"""

import json
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

FILE = Path(__file__).parents[2] / "fulfillment" / "operations" / "data" / "kubernetes-1.30.json"
KINDS = (
    *("apps.v1.Deployment", "autoscaling.v2.HorizontalPodAutoscaler", "batch.v1.Job", "core.v1.ConfigMap"),
    *("core.v1.Namespace", "core.v1.Secret", "core.v1.Service", "networking.v1.Ingress"),
    *("networking.v1.NetworkPolicy", "policy.v1.PodDisruptionBudget"),
)
UNUSED = ("description", "x-kubernetes-")
REFERENCE = re.compile(r'"#/\$defs/([^"]+)"')


def faults_of(manifest: dict[str, Any]) -> list[str]:
    """Where an object is not what the API of Kubernetes takes, and why; unknown fields are faults."""
    return [f"{error.json_path}: {error.message}" for error in _validator().iter_errors(manifest)]


@cache
def _validator() -> Draft202012Validator:
    known = json.loads(FILE.read_text("utf-8"))
    of_kind = [
        {
            "if": {"properties": {"kind": {"const": name.rpartition(".")[2]}}},
            "then": {"$ref": f"#/$defs/io.k8s.api.{name}"},
        }
        for name in KINDS
    ]
    kinds = {"enum": [name.rpartition(".")[2] for name in KINDS]}
    required = {"required": ["apiVersion", "kind", "metadata"], "properties": {"kind": kinds}}
    return Draft202012Validator({"$defs": known, "allOf": [required, *of_kind]})


def _reached(definitions: dict[str, Any]) -> dict[str, Any]:
    """The definitions that those of KINDS use, themselves included."""
    reached: dict[str, Any] = {}
    left = [f"io.k8s.api.{kind}" for kind in KINDS]
    while left:
        if (name := left.pop()) not in reached:
            reached[name] = _without_texts(definitions[name])
            left += REFERENCE.findall(json.dumps(reached[name]))
    return reached


def _without_texts(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_texts(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    return {
        name: _without_texts(inner)
        for name, inner in value.items()
        # A property may have the name `description`: its schema is a dictionary.
        if isinstance(inner, dict) or not name.startswith(UNUSED)
    }


def main() -> None:
    definitions = json.loads((Path(sys.argv[1]) / "_definitions.json").read_text("utf-8"))["$defs"]
    lines = [
        f"{json.dumps(name)}: {json.dumps(definition)}"
        for name, definition in sorted(_reached(definitions).items())
    ]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    main()
