"""The manifests of docs/deploy/kubernetes: the cluster's API takes them, and their containers run as processes."""

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import boto3
import pytest
import requests
from django.core.files.uploadedfile import SimpleUploadedFile

from fulfillment.core.environment import storage_settings
from stores.catalog.models import CatalogUpload
from stores.catalog.services.imports import export_catalog
from stores.catalog.services.uploads import WAITING_STATES, receive_catalog_upload
from tests.factories.orders import card_data, make_card, order_body
from tests.support.database.address import address_of
from tests.support.deployment.confinement import confined
from tests.support.deployment.kubernetes_schema import faults_of
from tests.support.deployment.manifests import (
    Manifest,
    as_here,
    command_here,
    containers,
    image_command,
    image_environment,
    image_user,
    manifests,
    missing,
    of_kind,
    running,
)
from tests.support.deployment.variables import PRODUCTION, ROOT, SECRETS, setting_names
from tests.support.patience import PATIENCE, wait_for
from tests.support.scenario import build_world
from tests.support.servers.buckets import serving_buckets
from tests.support.servers.ports import free_port
from tests.support.servers.workers import forget_jobs

# boto3 reads them, and the page of the settings has them in a sentence.
OF_S3 = {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret"}
PODS = containers()


def named(manifest: Manifest) -> str:
    return f"{manifest['kind']}-{manifest['metadata']['name']}"


@pytest.mark.parametrize("manifest", manifests(), ids=named)
def test_manifest_is_what_the_api_takes(manifest):
    assert faults_of(manifest) == []
    assert manifest["metadata"].get("namespace", "fulfillment") == "fulfillment"
    assert faults_of(manifest | {"spek": {}}) != []


def test_variables_are_settings():
    named = {name for pod in PODS.values() for name in pod.environment({})} - set(image_environment())

    assert named - set(OF_S3) - setting_names() == set()
    assert named >= {*SECRETS, "PUBLIC_URL", "DATABASE_URL", *OF_S3}


def test_secret_holds_names_alone():
    (secret,) = of_kind("Secret").values()

    assert set(secret["stringData"].values()) == {""}
    assert "data" not in secret


@pytest.mark.parametrize("name", PODS)
def test_pod_may_do_next_to_nothing(name):
    pod, own = PODS[name].pod["spec"], PODS[name].own

    assert pod["securityContext"] == {
        "runAsNonRoot": True,
        **dict.fromkeys(("runAsUser", "runAsGroup", "fsGroup"), image_user()),
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert own["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert pod["automountServiceAccountToken"] is False
    assert {"cpu", "memory"} <= own["resources"]["requests"].keys()
    assert "memory" in own["resources"]["limits"]
    assert {volume["name"] for volume in pod["volumes"]} == {mount["name"] for mount in own["volumeMounts"]}
    assert all(volume["emptyDir"]["sizeLimit"] for volume in pod["volumes"])


def test_pods_run_one_image_with_a_version():
    (image,) = {pod.own["image"] for pod in PODS.values()}

    assert image.rpartition(":")[2][0].isdigit()


def test_names_lead_to_what_exists():
    labels = {name: pod.pod["metadata"]["labels"] for name, pod in PODS.items()}
    for name, deployment in of_kind("Deployment").items():
        assert deployment["spec"]["selector"]["matchLabels"] == labels[name]
        assert of_kind("PodDisruptionBudget")[name]["spec"]["selector"]["matchLabels"] == labels[name]
    assert len({tuple(label.items()) for label in labels.values()}) == len(PODS)
    (service,), (scaler,) = of_kind("Service").values(), of_kind("HorizontalPodAutoscaler").values()
    assert service["spec"]["selector"] == labels["web"]
    assert [port["targetPort"] for port in service["spec"]["ports"]] == ["http"]
    assert scaler["spec"]["scaleTargetRef"]["name"] in of_kind("Deployment")
    for ingress in of_kind("Ingress").values():
        for path in ingress["spec"]["rules"][0]["http"]["paths"]:
            assert path["backend"]["service"] == {"name": "web", "port": {"name": "http"}}
    policies = of_kind("NetworkPolicy")
    assert policies["all"]["spec"]["podSelector"] == {}
    assert policies["web"]["spec"]["podSelector"]["matchLabels"] == labels["web"]


def test_web_listens_where_it_is_probed_and_ends_within_its_grace():
    command, web = image_command(), PODS["web"]

    port = int(command[command.index("--port") + 1])
    assert {web.probe(name)[0] for name in ("startup", "liveness", "readiness")} == {port}
    waited = int(web.own["lifecycle"]["preStop"]["exec"]["command"][1])
    ending = int(command[command.index("--workers-kill-timeout") + 1])
    assert waited + ending < web.pod["spec"]["terminationGracePeriodSeconds"]


@pytest.mark.slow
def test_settings_of_the_pods_pass_the_check_for_deployment():
    environment = as_here(
        PODS["web"], Path("/nonexistent"), SECRETS | {"DATABASE_URL": PRODUCTION["DATABASE_URL"]}
    )

    result = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )

    assert result.returncode == 0, result.stderr
    # The bucket and the mail server of the example are not here.
    assert set(re.findall(r"\((\S+\.W\d+)\)", result.stderr)) <= {"fulfillment.W005"}, result.stderr


@pytest.mark.slow
@pytest.mark.skipif(bool(missing), reason=missing)
def test_confined_process_writes_below_its_mounts_alone(tmp_path):
    mounted, outside = tmp_path / "mounted", tmp_path / "outside"
    mounted.mkdir()
    outside.mkdir()
    tried = "".join(f"echo > {folder}/x; " for folder in (mounted, outside, ROOT, "/var", "/"))

    output = subprocess.run(
        confined(["sh", "-c", tried], [mounted], 65534), capture_output=True, text=True
    ).stderr

    assert output.count("Read-only file system") == output.count("\n") == 4
    assert [path.name for path in tmp_path.rglob("x")] == ["x"]
    assert (mounted / "x").exists()


@pytest.fixture
def outside() -> Iterator[dict[str, str]]:
    """PostgreSQL and S3, and the values by which the pods find them."""
    with serving_buckets() as address:
        yield {
            **{name: os.environ[name] for name in SECRETS},
            **OF_S3,
            "DATABASE_URL": address_of(),
            "S3_ENDPOINT_URL": address,
            # The tests are the proxy.
            "TRUSTED_PROXIES": "127.0.0.0/8",
        }


def bucket_of(values: dict[str, str]) -> Any:
    settings = PODS["web"].environment({})
    bucket = boto3.resource(
        "s3",
        endpoint_url=values["S3_ENDPOINT_URL"],
        region_name=settings["S3_REGION"],
        aws_access_key_id=values["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=values["AWS_SECRET_ACCESS_KEY"],
    ).Bucket(settings["S3_BUCKET"])
    bucket.create(CreateBucketConfiguration={"LocationConstraint": settings["S3_REGION"]})
    return bucket


def answers(url: str) -> bool:
    with contextlib.suppress(requests.RequestException):
        return requests.get(url, timeout=PATIENCE).ok
    return False


def catalog_is_checked(world: Any) -> None:
    """By the worker: a file from the bucket, with the template of its product."""
    content = b"".join(export_catalog(store_ids=[world.associated.external_id]))
    upload = receive_catalog_upload(upload=SimpleUploadedFile("catalog.json", content), by=world.operator)
    wait_for(lambda: CatalogUpload.objects.get(pk=upload.pk).state not in WAITING_STATES)
    upload.refresh_from_db()
    assert (upload.state, upload.error) == ("checked", "")


def order_with_a_proof(url: str, world: Any) -> None:
    """Over https as the Ingress passes it on: a proof, its picture, an order and its print file."""
    public = PODS["web"].environment({})["PUBLIC_URL"]
    client = world.as_application()
    headers = {
        "Host": urlsplit(public).netloc,
        "X-Forwarded-Proto": "https",
        **client.credentials,
    }

    def call(method: str, address: str, **sent: Any) -> requests.Response:
        response = requests.request(
            method, address.replace(public, url), headers=headers, timeout=PATIENCE, **sent
        )
        assert response.ok, response.text
        return response

    store = f"{public}/api/v1/store/associated"
    proof = call("POST", f"{store}/product/card-two-sided/proof", json=card_data()).json()
    assert call("GET", proof["PdfURL"]).content.startswith(b"%PDF")
    items = [{"ProductID": "card-two-sided", "Quantity": 100, "TemplateData": card_data()}]
    placed = call("POST", f"{store}/order", json=order_body(Items=items)).json()
    assert call("GET", placed["Items"][0]["PrintFile"]["URL"]).content.startswith(b"%PDF")


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_pods_work_as_processes_in_the_order_of_the_guide(tmp_path, outside, settings, monkeypatch):
    bucket, port = bucket_of(outside), free_port()
    for name, value in PODS["worker"].environment(outside).items():
        if name.startswith(("AWS_", "S3_")):
            monkeypatch.setenv(name, outside.get(name, value))
    settings.STORAGES = {**settings.STORAGES, "default": storage_settings("s3")}
    prepare, web, worker = (PODS[name] for name in ("prepare", "web", "worker"))
    forget_jobs()
    world, url = build_world(), f"http://127.0.0.1:{port}"
    make_card(world.associated)
    (tmp_path / "prepare").mkdir()
    prepared = subprocess.run(
        command_here(prepare, tmp_path / "prepare"),
        cwd=ROOT,
        env=as_here(prepare, tmp_path / "prepare", outside),
        capture_output=True,
        text=True,
    )
    assert prepared.returncode == 0, prepared.stderr

    with running(web, tmp_path / "web", outside, port) as written:
        for name in ("startup", "readiness", "liveness"):
            wait_for(partial(answers, url + web.probe(name)[1]))
        assert not answers(f"{url}/readyz?only=worker")
        with running(worker, tmp_path / "worker", outside):
            # The mail server's name of the example is not found here.
            wait_for(lambda: answers(f"{url}/readyz?only=database,migrations,storage,worker"))
            order_with_a_proof(url, world)
            catalog_is_checked(world)
            assert list(written.iterdir())
    assert {stored.key.partition("/")[0] for stored in bucket.objects.all()} >= {"catalog", "proofs"}
