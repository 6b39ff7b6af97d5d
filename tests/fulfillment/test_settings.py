"""Production starts only with what it needs; nothing turns it into development mode by accident."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SECRETS = {
    "SECRET_KEY": "7hX2-9sKq_4vLm1pZr8wTn5bYc3jGd6fQe0aUi2oPx9yRk4tVh7mNs1zWb8c",
    "FULFILLMENT_PEPPERS": "pQ4x-8mZt_2vKs6nRb1wYc9jLd5gHf3eTa7uXi0oPy",
    "FULFILLMENT_ENCRYPTION_KEYS": "Zk3v-6tXr_9pLm2sQb8wNc4jYd1gHf7eRa5uTi0oPx",
}
PRODUCTION = {
    **SECRETS,
    "PUBLIC_URL": "https://print.example",
    "DATABASE_URL": "postgresql://fulfillment:word@127.0.0.1:5999/fulfillment",
    "DJANGO_SETTINGS_MODULE": "fulfillment.settings",
}


def run(environment, *arguments):
    inherited = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    command = [sys.executable, "-m", "django", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env={**inherited, **environment}, capture_output=True, text=True, check=False
    )


def test_production_is_clean_for_deployment():
    result = run(PRODUCTION, "check", "--deploy", "--fail-level", "WARNING")

    assert result.returncode == 0, result.stderr


def test_cookies_of_production_are_for_https_and_this_host_alone():
    said = run(PRODUCTION, "diffsettings").stdout

    for name in ("SESSION", "CSRF"):
        assert f"{name}_COOKIE_SECURE = True" in said
        assert f"{name}_COOKIE_NAME = '__Host-{name.lower()}'" in said
        assert f"{name}_COOKIE_DOMAIN" not in said
    assert "DEVICE_COOKIE_NAME = '__Host-device'" in said


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"SECRET_KEY": ""}, "SECRET_KEY is missing or weak"),
        ({"SECRET_KEY": "a" * 60}, "SECRET_KEY is missing or weak"),
        ({"FULFILLMENT_PEPPERS": "short"}, "FULFILLMENT_PEPPERS is missing or weak"),
        ({"FULFILLMENT_ENCRYPTION_KEYS": ""}, "FULFILLMENT_ENCRYPTION_KEYS is missing or weak"),
        ({"FULFILLMENT_PEPPERS": f"{'pQ4x-8mZt_2vKs6n' * 3},short"}, "shorter than 32"),
        ({"SECRET_KEY_FILE": "/nonexistent"}, "SECRET_KEY_FILE names /nonexistent"),
        ({"PUBLIC_URL": ""}, "PUBLIC_URL is ''"),
        ({"PUBLIC_URL": "http://print.example"}, "PUBLIC_URL is 'http://print.example'"),
        ({"DATABASE_URL": ""}, "DATABASE_URL is missing"),
        ({"DATABASE_URL": "mysql://x/y"}, "DATABASE_URL must look like"),
        ({"FULFILLMENT_MODE": "debug"}, "FULFILLMENT_MODE is 'debug'"),
        ({"EMAIL_PORT": "many"}, "EMAIL_PORT is 'many'"),
        ({"SIGN_UP_ENABLED": "perhaps"}, "SIGN_UP_ENABLED is 'perhaps'"),
    ],
)
def test_wrong_variable_stops_the_start_with_its_name(change, said):
    result = run({**PRODUCTION, **change}, "check")

    assert result.returncode != 0
    assert said in result.stderr.strip().splitlines()[-1]


def test_secret_is_read_from_a_file(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text(SECRETS["SECRET_KEY"] + "\n")

    assert run({**PRODUCTION, "SECRET_KEY": "", "SECRET_KEY_FILE": str(secret)}, "check").returncode == 0


def test_demo_is_refused_in_production():
    result = run(PRODUCTION, "demo", "--json")

    assert result.returncode == 1
    assert "development mode" in result.stderr
