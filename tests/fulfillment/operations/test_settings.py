"""Production starts only with what it needs; nothing turns it into development mode by accident."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from ipaddress import ip_network
from pathlib import Path

import pytest
from django.core.checks import ERROR, INFO, WARNING
from django.core.management import CommandError, call_command
from django.db import OperationalError

import accounts.operations
from fulfillment.operations import deployment_checks
from fulfillment.operations.deployment_checks import check_deployment
from tests.support.deployment.variables import PRODUCTION, ROOT, SECRETS, setting_names
from tests.support.scenario import build_world


def run(environment, *arguments):
    inherited = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    command = [sys.executable, "-m", "django", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env={**inherited, **environment}, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_production_is_clean_for_deployment(tmp_path):
    """With a secret as short as it may be, read from a file."""
    secret = tmp_path / "secret"
    secret.write_text(SHORTEST + "\n")
    environment = {**PRODUCTION, "SECRET_KEY": "", "SECRET_KEY_FILE": str(secret)}

    result = run(environment, "check", "--deploy", "--fail-level", "WARNING")

    assert result.returncode == 0, result.stderr


@pytest.mark.slow
def test_cookies_and_hsts_of_production_are_for_https_and_this_host_alone():
    output = run(PRODUCTION, "diffsettings").stdout

    assert "SECURE_HSTS_SECONDS = 3600" in output
    assert "SECURE_HSTS_INCLUDE_SUBDOMAINS" not in re.sub(r".* = False.*", "", output)
    assert "SECURE_HSTS_PRELOAD" not in re.sub(r".* = False.*", "", output)
    for name in ("SESSION", "CSRF"):
        assert f"{name}_COOKIE_SECURE = True" in output
        assert f"{name}_COOKIE_NAME = '__Host-{name.lower()}'" in output
        assert f"{name}_COOKIE_DOMAIN" not in output
    assert "DEVICE_COOKIE_NAME = '__Host-device'" in output


@pytest.mark.slow
def test_hsts_is_raised_by_settings():
    more = {"HSTS_SECONDS": "31536000", "HSTS_INCLUDE_SUBDOMAINS": "1", "HSTS_PRELOAD": "1"}
    raised = run({**PRODUCTION, **more}, "diffsettings").stdout

    for line in ("SECONDS = 31536000", "INCLUDE_SUBDOMAINS = True", "PRELOAD = True"):
        assert f"SECURE_HSTS_{line}" in raised


# Of 32 characters.
SHORTEST = "0123456789abcdef" * 2
WRONG = [
    ({"SECRET_KEY": ""}, "SECRET_KEY is missing or weak"),
    ({"SECRET_KEY": "a" * 60}, "SECRET_KEY is missing or weak"),
    ({"FULFILLMENT_PEPPERS": "short"}, "FULFILLMENT_PEPPERS is missing or weak"),
    ({"FULFILLMENT_ENCRYPTION_KEYS": ""}, "FULFILLMENT_ENCRYPTION_KEYS is missing or weak"),
    ({"FULFILLMENT_PEPPERS": f"{'pQ4x-8mZt_2vKs6n' * 3},short"}, "shorter than 32"),
    ({"SECRET_KEY_FILE": "/nonexistent"}, "SECRET_KEY_FILE names /nonexistent"),
    ({"PUBLIC_URL": ""}, "PUBLIC_URL is ''"),
    ({"PUBLIC_URL": "http://print.example"}, "PUBLIC_URL is 'http://print.example'"),
    ({"DATABASE_URL": ""}, "DATABASE_URL is missing"),
    (
        {"DATABASE_URL": "postgresql://u@h/d?sslmode=bogus"},
        "DATABASE_URL has sslmode='bogus'; write disable,",
    ),
    *(
        ({"DATABASE_URL": address}, "DATABASE_URL is no address of a database; write one such as")
        for address in (
            "mysql://x:hidden@h/y",
            *(f"postgresql://u:{word}@h/d" for word in ("a@hidden/c", "a/hidden", "a#hidden", "a?hidden")),
            "postgresql:/u:hidden@h/d",
            "postgresql://u/v:hidden@h/d",
            "host=h user=u password=hidden dbname=d",
        )
    ),
    ({"DATABASE_URL": "postgresql://u@h/d?sslmod=require"}, "DATABASE_URL has the option 'sslmod'"),
    ({"PUBLIC_URL": "https://print.example/shop"}, "without a path"),
    ({"PUBLIC_URL": "https://drückerei.example"}, "PUBLIC_URL is 'https://drückerei.example'"),
    ({"PUBLIC_URL": "https://[print"}, "PUBLIC_URL is 'https://[print'"),
    ({"ALLOWED_HOSTS": "https://print.example"}, "ALLOWED_HOSTS contains 'https://print.example'"),
    *(
        ({"API_ALLOWED_ORIGINS": wrong}, f"API_ALLOWED_ORIGINS contains {wrong!r}")
        for wrong in (
            "*",
            "shop.example",
            "https://shop.example/",
            "https://Shop.example",
            "https://a.example:443",
        )
    ),
    ({"LOG_LEVEL": "loud"}, "LOG_LEVEL is 'loud'; write DEBUG, INFO, WARNING, ERROR or CRITICAL."),
    (
        {"EDDM_TILES_URL": "http://tiles.example/{z}/{x}/{y}.png"},
        "write an address such as https://tiles.example",
    ),
    ({"SENTRY_DSN": "nonsense"}, "SENTRY_DSN is 'nonsense'; write an address"),
    ({"FILE_STORAGE": "s3"}, "S3_BUCKET is ''; write the name"),
    ({"S3_BUCKET": "b"}, "S3_BUCKET is 'b'; write the name of the bucket that keeps files, 3 to 63 letters"),
    ({"FULFILLMENT_MODE": "debug"}, "FULFILLMENT_MODE is 'debug'"),
    ({"EMAIL_PORT": "many"}, "EMAIL_PORT is 'many'"),
    ({"EMAIL_USE_TLS": "1", "EMAIL_USE_SSL": "1"}, "EMAIL_USE_TLS and EMAIL_USE_SSL are both set"),
    ({"SIGN_UP_ENABLED": "perhaps"}, "SIGN_UP_ENABLED is 'perhaps'"),
]
LOAD_SETTINGS = """
import json, os, runpy, sys
from django.core.exceptions import ImproperlyConfigured

said, before = [], dict(os.environ)
for change in json.loads(sys.stdin.read()):
    os.environ.update(change)
    try:
        sys.modules.pop("fulfillment.limits", None)
        runpy.run_module("fulfillment.settings")
        said.append("")
    except ImproperlyConfigured as error:
        said.append(str(error))
    os.environ.clear()
    os.environ.update(before)
print(json.dumps(said))
"""


def said_by_settings(changes, **more):
    """What the settings say of each change, all in one process; anything but a sentence ends it with its stack."""
    result = subprocess.run(
        [sys.executable, "-c", LOAD_SETTINGS],
        cwd=ROOT,
        env={**PRODUCTION, "PATH": os.environ["PATH"], **more},
        input=json.dumps(changes),
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_wrong_variable_stops_the_start_with_its_name():
    said = said_by_settings([change for change, _ in WRONG])

    assert [
        (expected, message)
        for (_, expected), message in zip(WRONG, said, strict=True)
        if expected not in message
    ] == []


def test_all_wrong_variables_are_named_in_one_message():
    required = (
        "SECRET_KEY",
        "FULFILLMENT_PEPPERS",
        "FULFILLMENT_ENCRYPTION_KEYS",
        "PUBLIC_URL",
        "DATABASE_URL",
    )
    wrong = dict.fromkeys(required, "") | {
        "FULFILLMENT_MODE": "x",
        "EMAIL_PORT": "many",
        "FILE_STORAGE": "s3",
    }

    (message,) = said_by_settings([wrong])

    assert [line.split()[0] for line in message.split("\n")] == [
        "FULFILLMENT_MODE",
        *required,
        "S3_BUCKET",
        "EMAIL_PORT",
    ]


def test_relative_folders_are_in_the_release_from_wherever_a_process_starts(tmp_path):
    program = "import runpy; s = runpy.run_module('fulfillment.settings'); "
    program += (
        "print(s['STATIC_ROOT'], s['MEDIA_ROOT'], *s['PRODUCTION_FOLDERS'], s['CLIENT_DOWNLOADS'], sep='\\n')"
    )
    names = {"STATIC_ROOT": "a", "MEDIA_ROOT": "b", "PRODUCTION_FOLDERS": "c,/d", "CLIENT_DOWNLOADS": "e"}
    result = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**PRODUCTION, **names, "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert result.stdout.splitlines() == [
        str(ROOT / "a"),
        str(ROOT / "b"),
        str(ROOT / "c"),
        "/d",
        str(ROOT / "e"),
    ], result.stderr


@pytest.mark.slow
def test_wrong_variable_is_the_last_line_of_a_command():
    result = run({**PRODUCTION, "EMAIL_PORT": "many"}, "check")

    assert result.returncode != 0
    assert "EMAIL_PORT is 'many'" in result.stderr.strip().splitlines()[-1]


# Any text may be right for these, as far as the settings can know; `check --deploy` or their use say more.
ANY_TEXT = {
    *("DATABASE_ROLE", "EMAIL_BACKEND", "EMAIL_HOST", "EMAIL_HOST_PASSWORD", "EMAIL_HOST_USER", "S3_PREFIX"),
    *(
        "CLIENT_DOWNLOADS",
        "EDDM_PAYMENT",
        "EDDM_TILES_CREDIT",
        "MEDIA_ROOT",
        "PRODUCTION_FOLDERS",
        "PROOF_WATERMARK",
        "STATIC_ROOT",
    ),
}
NONSENSE = [
    "non sense!",
    "-1",
    "9" * 5000,
    "https://[",
    "http://x:port/",
    "\x07",
    "٣",
    "0.0.0.0/99",
    "a" * 5000,
]


def test_nonsense_in_any_variable_is_one_sentence_that_names_it():
    tried = [(name, value) for name in sorted(setting_names()) for value in NONSENSE]
    tried += [("SECRET_KEY_FILE", "/dev/null/x"), ("SECRET_KEY_FILE", sys.executable)]
    messages = said_by_settings(
        [{name: value} for name, value in tried], FILE_STORAGE="s3", S3_BUCKET="prints"
    )

    said = [(*pair, message) for pair, message in zip(tried, messages, strict=True)]
    assert len(said) > 400
    assert {name for name, value, message in said if value == "non sense!" and not message} == ANY_TEXT
    for name, value, message in said:
        if message:
            assert name in message, (name, value[:50], message[:200])
            assert re.search(r"; (write|set) ", message), message[:300]
            assert "\n" not in message


WIDE = [ip_network("0.0.0.0/0"), ip_network("2000::/3"), ip_network("128.0.0.0/1")]


@pytest.fixture
def production(settings):
    """As production has them, as far as the checks for deployment look."""
    settings.DEVELOPMENT = False
    settings.STATIC_ROOT = settings.MEDIA_ROOT.parent / "static"
    settings.SECURE_HSTS_SECONDS = 3600
    return settings


def found(level=ERROR):
    return [message.msg for message in check_deployment(None) if message.level >= level]


def test_check_for_deployment_finds_nothing_wrong_with_secure_settings(production, db):
    assert found(INFO) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"ALLOWED_HOSTS": ["*"]}, "ALLOWED_HOSTS is *"),
        ({"ALLOWED_HOSTS": ["other.example"]}, "ALLOWED_HOSTS leaves out 127.0.0.1"),
        *(({"TRUSTED_PROXIES": [wide]}, f"TRUSTED_PROXIES contains {wide}") for wide in WIDE),
        *(
            ({"WEBHOOK_ALLOWED_NETWORKS": [wide]}, f"WEBHOOK_ALLOWED_NETWORKS contains {wide}")
            for wide in WIDE
        ),
        *(({"METRICS_NETWORKS": [wide]}, f"METRICS_NETWORKS contains {wide}") for wide in WIDE),
        ({"PEPPERS": ["a-new-one", "the-same"], "ENCRYPTION_KEYS": ["the-same"]}, "have the same value"),
        (
            {"METRICS_TOKEN": "the-same", "PEPPERS": ["the-same"]},
            "FULFILLMENT_PEPPERS and METRICS_TOKEN have",
        ),
        (
            {"SECRET_KEY": "django-insecure-0123"},
            "SECRET_KEY holds a value that begins with django-insecure-",
        ),
        ({"SECURE_HSTS_PRELOAD": True}, "HSTS_PRELOAD is 1, but"),
        ({"EMAIL_BACKEND": "loud"}, "EMAIL_BACKEND is 'loud', which cannot be imported"),
        ({"MEDIA_ROOT": Path("/dev/null/x")}, "MEDIA_ROOT is '/dev/null/x', but /dev/null is not a folder"),
        ({"PRODUCTION_FOLDERS": [Path("/dev/null/x")]}, "PRODUCTION_FOLDERS is '/dev/null/x', but"),
        ({"DEVELOPMENT": True}, "This checked development mode, chosen by FULFILLMENT_MODE"),
    ],
)
def test_check_for_deployment_fails_for_what_is_unsafe(change, said, production, db):
    for name, value in change.items():
        setattr(production, name, value)

    messages = found()

    assert len(messages) == 1
    assert said in messages[0]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("MEDIA_ROOT", {"STATIC_ROOT": Path("/data"), "MEDIA_ROOT": Path("/data/media")}),
        ("MEDIA_ROOT", {"STATIC_ROOT": Path("/data"), "MEDIA_ROOT": Path("/data")}),
        ("PRODUCTION_FOLDERS", {"STATIC_ROOT": Path("/data"), "PRODUCTION_FOLDERS": [Path("/data/presses")]}),
    ],
)
def test_check_for_deployment_fails_for_stored_files_among_those_that_everyone_may_read(
    name, change, production, db
):
    for each, value in change.items():
        setattr(production, each, value)

    assert [message.partition(" is ")[0] for message in found()] == [name]


def test_check_for_deployment_warns_of_files_in_the_folder_of_the_release(production, db):
    production.MEDIA_ROOT = production.BASE_DIR / "var" / "media"

    assert ["in the folder of this release" in message for message in found(WARNING)] == [True]
    production.FILE_STORAGE = "s3"
    assert found(WARNING) == []


@pytest.mark.parametrize(
    ("setting", "name"),
    [("ENCRYPTION_KEYS", "FULFILLMENT_ENCRYPTION_KEYS"), ("PEPPERS", "FULFILLMENT_PEPPERS")],
)
def test_check_for_deployment_fails_where_no_stored_key_would_work(setting, name, production, db):
    build_world()
    present = getattr(production, setting)
    assert found() == []

    setattr(production, setting, ["another-value-than-the-stored-keys-were-made-with"])
    assert [message.split()[0] for message in found()] == [name]
    # As while secrets are changed.
    setattr(production, setting, ["another-value-than-the-stored-keys-were-made-with", *present])
    assert found() == []


def test_check_for_deployment_says_why_the_database_did_not_answer(production, monkeypatch):
    def refuse():
        raise OperationalError('connection failed: password authentication failed for user "fulfillment"')

    monkeypatch.setattr(accounts.operations, "demo_sign_ins_left", refuse)
    monkeypatch.setattr(deployment_checks, "settings_that_do_not_fit", refuse)
    monkeypatch.setattr(deployment_checks, "failures_by_check", lambda: {"database": "it does not answer"})

    (message,) = found(INFO)
    assert "did not answer" in message
    assert "password authentication failed" in message


@pytest.mark.parametrize("part", ["migrations", "storage", "clock", "names", "temporary"])
def test_check_for_deployment_names_the_part_that_is_not_ready(production, db, monkeypatch, part):
    failures = {"database": "", "worker": "no worker", part: "it is broken"}
    monkeypatch.setattr(deployment_checks, "failures_by_check", lambda: failures)

    assert found(WARNING) == ["It is broken."]


def test_check_for_deployment_warns_of_redirects_without_end(production, db):
    production.SECURE_SSL_REDIRECT = True
    (message,) = found(WARNING)
    production.BEHIND_TLS_PROXY = True

    assert "redirected to https without end" in message
    assert found(WARNING) == []


@pytest.mark.parametrize("name", ["SENTRY_DSN", "OTLP_ENDPOINT"])
def test_check_for_deployment_misses_packages_that_are_not_installed(name, production, db, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda module: None)
    setattr(production, name, "https://key@sentry.example/7")

    (message,) = found()

    assert "is not installed: the service would not start" in message


@pytest.mark.slow
def test_check_after_make_run_says_that_it_was_not_of_production(tmp_path):
    lines = [f"{name}={value}" for name, value in SECRETS.items()]
    lines.append("DATABASE_URL=postgresql://nobody@127.0.0.1:9/none")
    (tmp_path / "development.env").write_text("\n".join(lines))
    environment = {"PATH": os.environ["PATH"], "FULFILLMENT_VAR": str(tmp_path)}

    result = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert result.returncode == 1
    assert "This checked development mode, chosen by" in result.stderr
    assert "development.env" in result.stderr


def test_least_length_of_a_secret_is_one_number_everywhere():
    document = (ROOT / "docs" / "operating" / "settings.md").read_text("utf-8")
    named = set(re.findall(r"at least (\d+) random characters|\((\d+) characters or more", document))
    refused, taken = said_by_settings([{"SECRET_KEY": SHORTEST[1:]}, {"SECRET_KEY": SHORTEST}])

    assert named == {("32", ""), ("", "32")}
    assert "at least 32 random characters" in refused
    assert taken == ""


@pytest.mark.slow
def test_demo_is_refused_in_production_without_a_stack():
    environment = {**PRODUCTION, "PATH": os.environ["PATH"]}
    result = subprocess.run(
        [sys.executable, "manage.py", "load_demo"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    assert "development mode" in result.stderr


def test_demo_as_json_is_refused_in_production(production):
    with pytest.raises(CommandError, match="development mode"):
        call_command("demo", "--json")
