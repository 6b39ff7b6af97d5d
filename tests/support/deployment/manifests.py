"""The manifests of docs/deploy/kubernetes, and the containers in them as processes would be started."""

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.support.deployment.confinement import can_confine, confined
from tests.support.patience import PATIENCE

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "docs" / "deploy" / "kubernetes"
IMAGE = ROOT / "docs" / "deploy" / "Containerfile"
Manifest = dict[str, Any]
# Why pods are not confined here; empty if they are.
missing = can_confine()


def manifests() -> list[Manifest]:
    return [
        manifest
        for path in sorted(FOLDER.glob("*.yaml"))
        for manifest in yaml.safe_load_all(path.read_text("utf-8"))
    ]


def of_kind(kind: str) -> dict[str, Manifest]:
    """By their names."""
    return {manifest["metadata"]["name"]: manifest for manifest in manifests() if manifest["kind"] == kind}


@dataclass(frozen=True)
class Container:
    """The only container of a pod."""

    pod: Manifest
    own: Manifest

    def command(self) -> list[str]:
        return self.own.get("command") or image_command()

    def environment(self, secrets: dict[str, str]) -> dict[str, str]:
        """As the cluster sets it over that of the image; `secrets` are the values of the Secret's names."""
        variables = image_environment()
        for source in self.own.get("envFrom", []):
            if reference := source.get("configMapRef"):
                variables |= of_kind("ConfigMap")[reference["name"]]["data"]
            else:
                names = of_kind("Secret")[source["secretRef"]["name"]]["stringData"]
                variables |= {name: secrets.get(name, "") for name in names}
        return variables | {variable["name"]: variable["value"] for variable in self.own.get("env", [])}

    def probe(self, name: str) -> tuple[int, str]:
        """Port and path that the cluster requests."""
        request = self.own[f"{name}Probe"]["httpGet"]
        ports = {port["name"]: port["containerPort"] for port in self.own["ports"]}
        return ports[request["port"]], request["path"]


def containers() -> dict[str, Container]:
    """By the names of their Deployments and Jobs."""
    owners = of_kind("Deployment") | of_kind("Job")
    by_name = {}
    for name, owner in owners.items():
        (own,) = owner["spec"]["template"]["spec"]["containers"]
        by_name[name] = Container(owner["spec"]["template"], own)
    return by_name


def image_command() -> list[str]:
    return json.loads(re.findall(r"^CMD (\[.*?\])$", _image(), re.MULTILINE)[-1])


def image_environment() -> dict[str, str]:
    line = re.findall(r"^ENV (.*)$", _image(), re.MULTILINE)[-1]
    return dict(word.split("=", 1) for word in line.split())


def image_user() -> int:
    return int(re.search(r"^USER (\d+):\1$", _image(), re.MULTILINE)[1])


def _image() -> str:
    """The last stage of the Containerfile, each instruction in one line."""
    return re.sub(r"\\\n\s*", "", IMAGE.read_text("utf-8").rpartition("\nFROM ")[2])


def as_here(pod: Container, mounted: Path, values: dict[str, str]) -> dict[str, str]:
    """The environment of the manifest with these values, where this machine's paths replace those of the image."""
    environment = pod.environment(values)
    environment |= {name: value for name, value in values.items() if name in environment}
    environment["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    (mount,) = pod.own["volumeMounts"]
    assert mount["mountPath"] == "/tmp"
    return environment | {"TMPDIR": str(mounted)}


def command_here(pod: Container, mounted: Path, port: int = 0) -> list[str]:
    """Its command, confined as its pod is. Each pod has an address of its own, each process here a port."""
    words = shlex.join(pod.command()).replace("--host 0.0.0.0 --port 8000", f"--host 127.0.0.1 --port {port}")
    command = shlex.split(words)
    if missing:
        return command
    return confined(command, [mounted], pod.pod["spec"]["securityContext"]["runAsUser"])


@contextlib.contextmanager
def running(pod: Container, folder: Path, values: dict[str, str], port: int = 0) -> Iterator[Path]:
    """Runs a pod's command until the block ends, which it must survive; yields the folder at its mount."""
    mounted, log = folder / "mounted", folder / "log"
    mounted.mkdir(parents=True)
    with log.open("wb") as output:
        process = subprocess.Popen(
            command_here(pod, mounted, port),
            cwd=ROOT,
            env=as_here(pod, mounted, values),
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        yield mounted
        assert process.poll() is None, log.read_text()
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0, log.read_text()
        assert "Read-only file system" not in log.read_text()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        # Shown where the test fails.
        sys.stderr.write(log.read_text())
