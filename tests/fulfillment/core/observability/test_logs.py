import json
import logging
import os
import re
import subprocess
import sys
from smtplib import SMTPRecipientsRefused

import pytest
import requests
from django.db import IntegrityError

from fulfillment.core.observability.logs import JsonFormatter, PlainFormatter, SecretFilter, mask_text
from tests.support.deployment.variables import PRODUCTION, ROOT
from tests.support.patience import PATIENCE
from tests.support.scenario import PASSWORD, build_world
from tests.support.servers.live_server import serving

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SECRETS = [
    "Authorization: Bearer sfa_abcdefghijklmnop",
    "Authorization: Basic YWJjOmRlZmdoaWprbA==",
    "'HTTP_OCP_APIM_SUBSCRIPTION_KEY': 'sfs_0123456789abcdef'",
    '{"password": "canary-word", "x": 1}',
    "client_secret=canary-word&grant_type=x",
    "refresh_token=canary-word code=canary-word",
    "postgresql://me:canary-word@db/x",
    "key sfk_0123456789abcdef and whsec_0123456789abcdef",
    "sessionid=canary-word; csrftoken=1",
    "GET /accounts/password-reset/MQ/canary-0123456789abcdef/ 200",
    f"GET /proofs/canary{'_' * 40}/page-1.png and /assets/{'-' * 30}canary0123456789/x.png",
]


@pytest.mark.parametrize("text", SECRETS)
def test_secrets_are_masked(text):
    masked = mask_text(text)

    assert "canary" not in masked
    assert "0123456789" not in masked
    assert "abcdefgh" not in masked
    assert "YWJj" not in masked
    assert "***" in masked


def test_text_without_secrets_is_not_masked():
    text = "GET /api/v1/store/demo 200 in 3 ms; 7 tokens pruned"

    assert mask_text(text) == text


@pytest.mark.parametrize("formatter", [JsonFormatter(), PlainFormatter("%(message)s")])
def test_secrets_in_arguments_and_stack_traces_are_masked(formatter):
    try:
        raise RuntimeError("password=canary-word")
    except RuntimeError:
        record = logging.LogRecord("x", 40, "f", 1, "failed with %s", ("token=canary-word",), sys.exc_info())
    SecretFilter().filter(record)

    line = formatter.format(record)

    assert "canary" not in line
    assert "RuntimeError" in line


@pytest.mark.parametrize("formatter", [JsonFormatter(), PlainFormatter("%(message)s")])
def test_people_in_arguments_and_stack_traces_are_masked(formatter):
    """A mail server names the recipients that it refuses, a job its arguments, PostgreSQL the row that it refuses."""
    row = IntegrityError("null value\nDETAIL:  Failing row contains (Ada\n\nLovelace).\n")
    refused = SMTPRecipientsRefused({"ada@mail.example": (550, b"unknown")})
    refused.__cause__ = row
    trace = (type(refused), refused, None)
    job = "Job accounts.send_reset_links[5](email='ada.l+x@mail.example') ended with status: Error"
    record = logging.LogRecord("x", 40, "f", 1, job, (), trace)
    SecretFilter().filter(record)

    line = formatter.format(record)

    assert not re.search("(?i)ada|mail.example|lovelace", line)
    assert all(word in line for word in ("send_reset_links[5]", "null value", "SMTPRecipientsRefused", "550"))


FORGED = "1999-12-31 03:00:00,000 ERROR django.security forged"


@pytest.mark.parametrize(
    "end", ["\n", "\r", "\r\n", "\v", "\f", "\x1b[2K", "\x85", "\u2028", "\u202e", "\x00"]
)
def test_record_of_the_plain_log_is_one_line(end):
    try:
        raise ValueError(f"bad{end}{FORGED}")
    except ValueError:
        trace = sys.exc_info()
    formatter = PlainFormatter("%(asctime)s %(levelname)s %(name)s %(message)s")
    record = logging.LogRecord("x", 40, "f", 1, "GET %s", (f"/x{end}{FORGED}",), trace)
    SecretFilter().filter(record)

    first, *others = formatter.format(record).splitlines()

    assert first.endswith(f"GET /x{end.encode('unicode_escape').decode()}{FORGED}")
    assert all(line.startswith("    ") for line in others)
    assert end == "\n" or not any(end in line for line in [first, *others])


def test_text_without_control_characters_is_logged_as_it_is():
    formatter = PlainFormatter("%(message)s")
    said = "GET /caf\u00e9/\u738b/a\\nb 200"

    assert formatter.format(logging.LogRecord("x", 20, "f", 1, said, (), None)) == said


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_no_request_writes_a_line_of_its_own_into_the_plain_log(tmp_path):
    """By its path, user agent, trace, host, user name or content type."""
    lines = ("%0a", "%0d%0a", "%E2%80%A8", "%C2%85")
    with serving(tmp_path, ACCESS_LOG="1", LOG_FORMAT="plain") as served:
        for end in lines:
            raw = FORGED.replace(" ", "%20")
            requests.get(f"{served.url}/x{end}{raw}", timeout=PATIENCE)
            requests.get(f"{served.url}/api/v1/store/x{end}{raw}", timeout=PATIENCE)
            requests.get(f"{served.url}/accounts/login/?next=/x{end}{raw}", timeout=PATIENCE)
        for name in ("User-Agent", "traceparent", "Host", "X-Request-ID", "Content-Type", "Authorization"):
            requests.get(
                f"{served.url}/healthz",
                headers={name: f"a\x85\u00a0{FORGED}".encode("latin-1")},
                timeout=PATIENCE,
            )
        data = {"username": f"x\n{FORGED}", "password": f"x\n{FORGED}"}
        requests.post(f"{served.url}/accounts/login/", data=data, timeout=PATIENCE)

    text = served.log.read_text("utf-8")
    assert "/x\\n1999-12-31" in text, "the access log is on"
    assert [line for line in text.splitlines() if line.startswith(FORGED[:10])] == []


@pytest.mark.parametrize(
    "sent",
    [
        "",
        "nonsense",
        f"ff-{TRACE}-00f067aa0ba902b7-01",
        f"00-{'0' * 32}-00f067aa0ba902b7-01",
        "00-x-y-z",
        "0" * 900,
    ],
)
def test_trace_begins_where_none_or_nonsense_was_sent(client, db, sent):
    answered = client.get("/healthz", headers={"traceparent": sent})["traceparent"]

    assert re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-00", answered)
    assert TRACE not in answered


def test_trace_continues(client, db):
    answered = client.get("/healthz", headers={"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"})[
        "traceparent"
    ]

    assert re.fullmatch(rf"00-{TRACE}-(?!00f067aa0ba902b7)[0-9a-f]{{16}}-01", answered)


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_access_log_says_who_called_and_holds_no_secret(tmp_path):
    world = build_world()
    client = world.as_user(world.user)
    headers = {
        **client.credentials,
        "traceparent": f"00-{TRACE}-00f067aa0ba902b7-01",
    }
    with serving(tmp_path, ACCESS_LOG="1", LOG_FORMAT="json", LOG_LEVEL="DEBUG") as served:
        requests.get(f"{served.url}/api/v1/user/self?access_token=canary", headers=headers, timeout=PATIENCE)
        requests.post(
            f"{served.url}/oauth/token", data={"code": "canary", "client_secret": "canary"}, timeout=PATIENCE
        )
        requests.get(f"{served.url}/accounts/password-reset/MQ/canary-{'0' * 32}/", timeout=PATIENCE)
        requests.get(f"{served.url}/guide", headers={"Host": "elsewhere.example"}, timeout=PATIENCE)
        page = requests.Session()
        token = re.search(
            r'name="csrfmiddlewaretoken" value="(\w+)"', page.get(f"{served.url}/accounts/login/").text
        )
        form = {"username": "user", "password": PASSWORD, "csrfmiddlewaretoken": token[1]}
        page.post(f"{served.url}/accounts/login/", data=form, timeout=PATIENCE)
        log = served.log.read_text()

    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    foreign = [line for line in lines if line["logger"] == "django.security.DisallowedHost"]
    assert [(line["level"], "error" in line) for line in foreign] == [("WARNING", False)]
    line = next(line for line in lines if line.get("path") == "/api/v1/user/self")
    assert (line["request"], line["status"], line["user"]) == (TRACE, 400, str(world.user.pk))
    assert line["application"] == str(world.console.pk)
    assert line["subscription"] == str(world.user.subscription.pk)
    assert line["address"] == "127.0.0.1"
    for secret in (
        client.token,
        client.key,
        "canary",
        PASSWORD,
        token[1],
        page.cookies.get("sessionid", "none"),
    ):
        assert secret not in log


HIDE = "import sys; sys.modules[{module!r}] = None; import fulfillment.wsgi"


@pytest.mark.parametrize(
    ("variable", "module"),
    [
        ("SENTRY_DSN", "sentry_sdk"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "opentelemetry.trace"),
    ],
)
@pytest.mark.slow
def test_missing_optional_package_is_named(variable, module):
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ} | PRODUCTION
    result = subprocess.run(
        [sys.executable, "-c", HIDE.format(module=module)],
        cwd=ROOT,
        env=environment | {variable: "https://key@127.0.0.1:1/1"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert result.returncode != 0
    assert f"{variable} is set, but the package" in result.stderr
    assert "requirements/optional.txt" in result.stderr


def test_half_of_a_pair_of_surrogates_is_escaped():
    record = logging.LogRecord("x", logging.INFO, "x", 1, "Paper \N{WHITE STAR} \udc80", None, None)

    line = JsonFormatter().format(record).encode()

    assert "\N{WHITE STAR}".encode() in line
    assert json.loads(line)["message"] == "Paper \N{WHITE STAR} \udc80"
