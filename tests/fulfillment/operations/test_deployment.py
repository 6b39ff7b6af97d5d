"""The files of docs/deploy name what exists, and keep what the guide promises of them."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import get_commands
from jsonschema import Draft7Validator

from stores.catalog.services.uploads import UPLOAD_BYTES
from tests.support.deployment.units import hardening_of
from tests.support.deployment.variables import setting_names
from tests.support.servers.ports import free_port
from tests.support.servers.proxies import certificate, require_program
from tests.tools.hardening_page import LINES, PAGE, first_part, stricter_lines

ROOT = Path(__file__).resolve().parents[3]
DEPLOY = ROOT / "docs" / "deploy"
UNITS = sorted(DEPLOY.glob("*.service"))
FILES = sorted(path for path in DEPLOY.rglob("*") if path.is_file())
# Of Python, of PostgreSQL's image, and of systemd.
OF_OTHERS = {
    "PATH",
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
    "PIP_DISABLE_PIP_VERSION_CHECK",
    "PIP_NO_CACHE_DIR",
}
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
OURS = ("prepare", "web", "worker", "backup")
# All but those of developers.
PACKAGES = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"clients", "tests"}


def commands_of(text: str) -> list[str]:
    return re.findall(r"manage\.py\"?,? \"?([a-z_]+)(?![\w.])", text)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_commands_named_exist(path):
    commands = get_commands()

    assert [name for name in commands_of(path.read_text("utf-8")) if name not in commands] == []


def test_every_file_is_in_the_table():
    table = (DEPLOY / "README.md").read_text("utf-8")

    assert [path.name for path in FILES if path.name != "README.md" and f"`{path.name}`" not in table] == []


def test_settings_named_are_documented():
    container = (DEPLOY / "Containerfile").read_text("utf-8")
    named = set(re.findall(r"\b([A-Z][A-Z0-9]*_[A-Z0-9_]+)=", container))
    named |= set(COMPOSE["services"]["web"]["environment"])
    named = {name.removesuffix("_FILE") for name in named}

    assert named - setting_names() - OF_OTHERS == set()


@pytest.mark.parametrize("path", [*UNITS, DEPLOY / "Containerfile"], ids=lambda path: path.name)
def test_options_of_the_web_server_exist(path):
    text = path.read_text("utf-8")
    if "granian" not in text:
        return
    output = subprocess.run(
        [Path(sys.executable).parent / "granian", "--help"], capture_output=True, text=True, check=True
    ).stdout
    line = next(part for part in re.split(r"ExecStart=|\nCMD ", text)[1:] if "granian" in part)
    options = re.findall(r"--[a-z-]+", re.split(r"\n\n|\n# ", line)[0])

    assert len(options) > 5
    for option in options:
        positive = option.replace("--no-", "--", 1)
        assert option in output or positive in output, option


def test_containers_of_ours_may_do_next_to_nothing():
    for name in OURS:
        service = COMPOSE["services"][name]
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert "ports" not in service
    container = (DEPLOY / "Containerfile").read_text("utf-8")
    assert container.index("USER 10001") < container.index('CMD ["granian"')
    assert "--require-hashes" in container


def test_containers_copy_and_compile_every_package_that_is_run():
    container = (DEPLOY / "Containerfile").read_text("utf-8")
    copied = set(re.findall(r"^COPY (\w+) \w+$", container, re.MULTILINE))
    compiled = set(re.search(r"compileall -q (.+)$", container, re.MULTILINE)[1].split())

    assert compiled == PACKAGES
    assert copied == PACKAGES | {"docs", "static", "templates"}


def test_packages_that_are_run_import_no_other_folder():
    """A release holds what the container copies: neither the clients nor the tests."""
    others = re.compile(r"^\s*(?:from|import) (?:clients|tests)\b", re.MULTILINE)
    imports = [
        str(path)
        for name in PACKAGES
        for path in (ROOT / name).rglob("*.py")
        if others.search(path.read_text("utf-8"))
    ]

    assert imports == []


def test_folders_that_commands_write_to_are_mounted():
    for name in OURS:
        service = COMPOSE["services"][name]
        mounted = {volume.split(":")[1] for volume in service["volumes"]}
        assert "/data/media" in mounted
        assert ("/backups" in mounted) == ("/backups/" in " ".join(service.get("command", [])))
        size = int(re.search(r"size=(\d+)m", service["tmpfs"][0])[1])
        assert size * 2**20 > 2 * UPLOAD_BYTES
    written = {
        folder
        for unit in UNITS
        for folder in re.findall(r"^ReadWritePaths=(\S+)", unit.read_text(), re.MULTILINE)
    }
    guide = (DEPLOY / "README.md").read_text("utf-8")
    assert all(folder in guide for folder in written)


def override_of_the_readme() -> dict[str, Any]:
    text = (DEPLOY / "README.md").read_text("utf-8")
    return yaml.safe_load(re.search(r"```yaml\n(.*?)```", text, re.DOTALL)[1])


@pytest.mark.parametrize("document", [COMPOSE, override_of_the_readme()], ids=["compose", "override"])
def test_compose_files_follow_their_schema(document):
    # The schema does not know the top-level name yet.
    known = {key: value for key, value in document.items() if key != "name"}
    schema = json.loads((Path(__file__).parent / "data" / "compose-spec.json").read_text("utf-8"))

    assert [error.message for error in Draft7Validator(schema).iter_errors(known)] == []


def test_docker_understands_the_compose_file(tmp_path):
    if subprocess.run(["sh", "-c", "docker compose version"], capture_output=True).returncode:
        pytest.skip("there is no docker compose here")
    shutil.copytree(DEPLOY, tmp_path, dirs_exist_ok=True)
    (tmp_path / "service.env").touch()
    command = ["docker", "compose", "--profile", "proxy", "--profile", "backup", "config", "--quiet"]

    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("document", [COMPOSE, override_of_the_readme()], ids=["compose", "override"])
def test_ports_are_published_for_ipv4_alone(document):
    """Docker's proxy hands on all users of IPv6 from one address: they would share each limit of an address."""
    ports = [port for service in document["services"].values() for port in service.get("ports", ())]

    assert [port for port in ports if ip_address(port.split(":")[0]).version != 4] == []
    assert ports


def test_web_believes_the_proxy_and_no_user_of_the_host():
    """A user of the host comes from the gateway, and from no other address of the network."""
    services, [front] = COMPOSE["services"], COMPOSE["networks"]["front"]["ipam"]["config"]
    trusted = ip_address(services["web"]["environment"]["TRUSTED_PROXIES"])

    assert ip_address(services["proxy"]["networks"]["front"]["ipv4_address"]) == trusted
    assert ip_address(front["gateway"]) != trusted
    assert {trusted, ip_address(front["gateway"])} <= set(ip_network(front["subnet"]).hosts())
    # Web starts first, with the first free address of this range.
    others = ip_network(front.get("ip_range", front["subnet"]))
    assert others.subnet_of(ip_network(front["subnet"]))
    assert trusted not in others
    assert {name for name, service in services.items() if "front" in service.get("networks", ())} == {
        "web",
        "proxy",
    }
    assert list(services["proxy"]["networks"]) == ["front"]
    own_proxy = override_of_the_readme()["services"]["web"]
    assert own_proxy["environment"]["TRUSTED_PROXIES"] == front["gateway"]
    assert own_proxy["ports"] == ["127.0.0.1:8000:8000"]


def test_compose_holds_no_secret():
    assert set(COMPOSE["secrets"]) == {"secret_key", "peppers", "encryption_keys", "database_password"}
    text = (DEPLOY / "compose.yaml").read_text("utf-8").replace("database_password:", "")
    assert not re.search(r"password:\s*\S", text)


def test_secrets_beside_the_files_are_in_no_image_and_no_commit():
    written = {
        "docs/deploy/service.env",
        "docs/deploy/secrets",
        "docs/deploy/certificates",
        "docs/deploy/backups",
        "docs/deploy/kubernetes/secrets.env",
    }
    left_out = {
        name: (ROOT / name).read_text("utf-8").splitlines() for name in (".dockerignore", ".gitignore")
    }

    for lines in left_out.values():
        assert written <= {line.rstrip("/") for line in lines}


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_units_are_hardened_and_understood(path):
    text = path.read_text("utf-8")
    for line in ("User=fulfillment", "NoNewPrivileges=yes", "ProtectSystem=strict", "PrivateTmp=yes"):
        assert line in text
    command = re.search(r"^ExecStart=(.*)$", text, re.MULTILINE)[1]
    assert shlex.split(command)[0].startswith(("/opt/fulfillment/current/.venv/bin/", "/bin/sh"))
    if not shutil.which("systemd-analyze"):
        pytest.skip("there is no systemd-analyze here")
    output = subprocess.run(["systemd-analyze", "verify", str(path)], capture_output=True, text=True).stderr
    ours = [line for line in output.splitlines() if "fulfillment" in line and "is not executable" not in line]
    assert ours == []
    if path.suffix == ".service":
        # In tenths: 2.0 and less is what systemd calls OK.
        command = ["systemd-analyze", "security", "--offline=true", "--threshold=20", "--no-pager", str(path)]
        verified = subprocess.run(command, capture_output=True, text=True)
        assert verified.returncode == 0, verified.stdout.splitlines()[-1]


def test_proxies_drop_what_clients_must_not_say():
    nginx, caddy = ((DEPLOY / name).read_text("utf-8") for name in ("nginx.conf", "Caddyfile"))

    assert "underscores_in_headers off;" in nginx
    # What is set in a location replaces all that is set above it.
    locations = re.findall(r"^    location .*?^    \}", nginx, re.MULTILINE | re.DOTALL)
    assert len(locations) == nginx.count("\n    location ") > 5
    assert not any("proxy_set_header" in location for location in locations)
    assert "proxy_set_header X-Forwarded-For $remote_addr;" in nginx
    assert "request_header -*_*" in caddy
    assert "header_up X-Forwarded-For {remote_host}" in caddy


def test_nginx_understands_its_file(tmp_path):
    require_program("nginx")
    certificate(tmp_path)
    text = (DEPLOY / "nginx.conf").read_text("utf-8")
    text = text.replace("/etc/nginx/certificates", str(tmp_path)).replace("/var/log/nginx", str(tmp_path))
    # Only root may open the usual ports, and the log of all others.
    text = re.sub(r"(listen .*?)(?:80|443)\b", lambda found: f"{found[1]}{free_port()}", text)
    whole = f"pid {tmp_path}/pid;\nevents {{}}\nhttp {{\naccess_log off;\n{text}\n}}\n"
    (tmp_path / "nginx.conf").write_text(whole)

    result = subprocess.run(
        ["nginx", "-t", "-e", tmp_path / "error.log", "-c", tmp_path / "nginx.conf"],
        capture_output=True,
        text=True,
    )

    assert result.returncode == 0, result.stderr
    assert "warn" not in result.stderr


def test_nginx_logs_no_address_with_a_secret():
    _, *servers = (DEPLOY / "nginx.conf").read_text("utf-8").split("\nserver {")

    assert [server for server in servers if "\n    access_log off;" not in server] == []


def test_caddy_understands_its_file():
    require_program("caddy")
    command = ["caddy", "validate", "--adapter", "caddyfile", "--config", DEPLOY / "Caddyfile"]

    result = subprocess.run(command, capture_output=True, text=True)

    assert result.returncode == 0, result.stderr


def test_hardening_page_names_every_line_of_the_units():
    units = [hardening_of(unit) for unit in UNITS]

    assert all(len(lines) > 15 for lines in units)
    assert {name for lines in units for name in lines} == set(LINES)
    text = PAGE.read_text("utf-8")
    assert text.startswith(first_part())
    assert [line.named for line in stricter_lines() if f"| {line.named} |" not in text] == []


def test_units_are_as_strict_as_each_other():
    """The page measures what breaks below the unit of web, for all of them."""
    web, worker, backup = (
        hardening_of(DEPLOY / f"fulfillment-{name}.service") for name in ("web", "worker", "backup")
    )

    assert worker == web
    assert {name for name in web if backup.get(name) != web[name]} == {
        "ReadWritePaths",
        "UMask",
        "LimitNOFILE",
    }
