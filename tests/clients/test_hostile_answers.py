"""The Python library against a service, a proxy or a sender of webhooks that means harm."""

import io
import json
import os
import stat
import sys
import time
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
import typer
from standardwebhooks import Webhook

from clients.build import copy_sources
from clients.generator.document import read_document
from clients.generator.python import write_python
from tests.support.servers.client_library import ROOT, run

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
URL = "https://print.example"


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The sources with what is generated, imported in this process."""
    folder = tmp_path_factory.mktemp("library")
    copy_sources(folder)
    source = folder / "python" / "src"
    write_python(read_document(ROOT / "tests" / "openapi.yml"), source / "store_fulfillment")
    sys.path.insert(0, str(source))
    names = {
        "api": "",
        "auth": ".auth",
        "errors": ".errors",
        "orders": ".command.orders",
        "profiles": ".command.profiles",
        "retries": "._retries",
        "screen": ".command.screen",
    }
    yield SimpleNamespace(
        **{name: import_module(f"store_fulfillment{module}") for name, module in names.items()}
    )
    sys.path.remove(str(source))
    for name in [one for one in sys.modules if one.partition(".")[0] == "store_fulfillment"]:
        del sys.modules[name]


def metadata(**changed: Any) -> dict[str, Any]:
    usual = {"issuer": URL, "authorization_endpoint": f"{URL}/oauth/authorize"}
    return usual | {"authorization_response_iss_parameter_supported": True} | changed


@pytest.fixture
def answers(library, monkeypatch):
    def give(content: Any, status: int = 200) -> None:
        found = httpx.Response(status, content=content if isinstance(content, bytes) else json.dumps(content))
        monkeypatch.setattr(library.auth.httpx.Client, "send", lambda *args, **options: found)

    return give


@pytest.mark.parametrize("changed", [
    {"issuer": "https://honest.example", "authorization_endpoint": "https://honest.example/oauth/authorize"},
    {"authorization_endpoint": "https://print.example.evil.example/oauth/authorize"},
    {"authorization_endpoint": "javascript:alert(1)"},
    {"authorization_endpoint": None},
    {"issuer": "http://print.example"},
])  # fmt: skip
def test_metadata_of_another_server_starts_no_sign_in(library, answers, changed):
    answers(metadata(**changed))

    with pytest.raises(library.api.OAuthError, match="invalid_issuer"):
        library.api.start_sign_in(URL, "client", "http://127.0.0.1/callback")


@pytest.mark.parametrize("content", [b"", b"[]", b"<html>", b"[" * 100_000, b"\xff"])
def test_invalid_metadata_is_an_error_of_the_library(library, answers, content):
    answers(content)

    with pytest.raises(library.api.OAuthError, match="server_error"):
        library.api.start_sign_in(URL, "client", "http://127.0.0.1/callback")


def test_connection_cut_during_a_sign_in_is_an_error_of_the_library(library, answers, monkeypatch):
    answers(metadata())
    sign_in = library.api.start_sign_in(URL, "client", "http://127.0.0.1/callback")

    def cut(*args: Any, **options: Any) -> httpx.Response:
        raise httpx.RemoteProtocolError("Server disconnected without sending a response.")

    monkeypatch.setattr(library.auth.httpx.Client, "send", cut)

    with pytest.raises(library.api.ConnectionFailed, match="/oauth/token: Server disconnected"):
        library.api.finish_sign_in(
            sign_in, f"http://127.0.0.1/callback?code=x&state={sign_in.state}&iss={URL}"
        )


def test_answer_that_does_not_name_its_issuer_is_refused(library, answers):
    answers(metadata())
    sign_in = library.api.start_sign_in(URL, "client", "http://127.0.0.1/callback")

    for address in (
        f"?code=x&state={sign_in.state}",
        f"?code=x&state={sign_in.state}&iss=https://evil.example",
    ):
        with pytest.raises(library.api.OAuthError, match="invalid_state"):
            library.api.finish_sign_in(sign_in, f"http://127.0.0.1/callback{address}")


@pytest.mark.parametrize("content", [
    b"[]", b"null", b"[" * 100_000, b'{"access_token": 3}', b'{"access_token": "a\\n"}', b'{"error": {"a": 1}}',
    b"<html>",
])  # fmt: skip
def test_odd_token_answer_is_an_error_of_the_library(library, content):
    with pytest.raises(library.api.OAuthError):
        library.auth.tokens_of(httpx.Response(200, content=content))


@pytest.fixture
def client_of(library):
    """A client of a service that gives one response to all requests."""

    def make(content: bytes, headers: dict[str, str]) -> Any:
        def respond(request: httpx.Request) -> httpx.Response:
            return httpx.Response(200, headers=headers, stream=httpx.ByteStream(content))

        network = httpx.Client(transport=httpx.MockTransport(respond))
        known = {"credentials": library.auth.AccessToken("a"), "subscription_key": "c"}
        return library.api.Client(URL, **known, retries=library.api.Retries(most=0), http_client=network)

    return make


@pytest.mark.parametrize(("content", "headers"), [
    (b"<html>", {}), (b"", {}), (b"\xff", {}), (b"[" * 100_000, {}), (b"no gzip", {"Content-Encoding": "gzip"}),
])  # fmt: skip
def test_response_that_is_not_json_is_an_error_of_the_library(library, client_of, content, headers):
    client = client_of(content, headers)
    for call in (lambda: client.stores.get("card"), lambda: list(client.stores.list())):
        with pytest.raises(library.api.ConnectionFailed, match=r"not JSON|decompressing"):
            call()


@pytest.mark.parametrize("content", [b"null", b"{}", b'"text"', b"7"])
def test_response_of_another_form_is_an_error_of_the_library(library, client_of, content):
    client = client_of(content, {})

    with pytest.raises(library.api.ConnectionFailed, match="not a list"):
        list(client.events.list("a"))
    if content != b"{}":
        with pytest.raises(library.api.ConnectionFailed, match="neither an object nor a list"):
            client.stores.get("card")


@pytest.mark.parametrize("link", ["<http://[>", "</x?a=1>", "<" * 9_000, "<>;" * 3_000, "<" + "?" * 9_000])
def test_odd_link_ends_a_list_at_once(client_of, link):
    began = time.process_time()

    assert list(client_of(b"[{}]", {"Link": link + '; rel="next"'}).events.list("a")) == [{}]
    assert time.process_time() - began < 0.5


@pytest.mark.slow
def test_typescript_library_turns_odd_responses_into_its_errors(npm_project):
    assert run("node", npm_project / "out" / "hostile-service.js", cwd=npm_project, timeout=120).endswith(
        "done\n"
    )


@pytest.mark.parametrize("seconds", ["1e400", "1" * 400, "-" + "1" * 400, "null", '"soon"', "true"])
def test_odd_lifetime_of_a_token_is_understood(library, seconds):
    content = f'{{"access_token": "a", "expires_in": {seconds}, "refresh_token": {{}}, "scope": 1}}'
    tokens = library.auth.tokens_of(httpx.Response(200, content=content))

    assert (tokens.access_token, tokens.refresh_token, tokens.scope) == ("a", None, "")


@pytest.mark.parametrize("problem", [
    b"[" * 100_000, b'{"Errors": 5}', b'{"Errors": [1, null]}', b'{"ErrorCount": "many"}', b"\xff\xfe",
])  # fmt: skip
def test_odd_problem_body_is_an_error_of_the_library(library, problem):
    response = httpx.Response(502, content=problem, request=httpx.Request("GET", URL))

    assert isinstance(library.errors.error_of(response), library.api.ServerError)


@pytest.mark.parametrize("value", ["\u00b2", "9" * 5000, "-1", "Mon, 01 Jan 0001 00:00:00 -0000", "\u0669"])
@pytest.mark.parametrize("name", ["Retry-After", "RateLimit"])
def test_odd_waits_neither_fail_nor_wait_long(library, name, value):
    text = value if name == "Retry-After" else f'"x";r=0;t={value}'
    headers = httpx.Headers([(name.encode(), text.encode())])
    wait = library.retries.stated_wait(headers)

    assert wait is None or wait >= 0


def seconds_of_retries(library, outcome, **changed):
    """How long a client goes on with what always ends like this, at the shortest waits."""
    call = SimpleNamespace(is_repeatable=True, takes_key=True)
    seconds, tries, retries = 0.0, 1, library.api.Retries(**changed)
    while (wait := retries.wait_after(call, tries, outcome, seconds=seconds)) is not None:
        seconds, tries = seconds + wait, tries + 1
    return seconds


@pytest.mark.parametrize("chance", [0.5, 1.0])
def test_retries_outlast_the_loss_of_a_machine_and_end(library, monkeypatch, chance):
    monkeypatch.setattr(library.retries.random, "uniform", lambda *ignored: chance)
    gone = [httpx.ConnectError("refused"), httpx.ReadError("closed"), httpx.Response(502)]
    busy = httpx.Response(503, headers={"Retry-After": "5"})

    for outcome in [*gone, busy]:
        assert 45 <= seconds_of_retries(library, outcome) <= 45 + 9
        assert seconds_of_retries(library, outcome, most=0) == 0
        assert seconds_of_retries(library, outcome, outage=0) < 45
    assert seconds_of_retries(library, httpx.Response(500)) <= 7.5


def test_fault_that_stays_is_reported_at_once(library, untrusted_url):
    known = {"client_id": "a", "client_secret": "b", "subscription_key": "c"}
    with library.api.Client(untrusted_url, **known) as client:
        for url in (untrusted_url, "ftp://127.0.0.1/card.pdf"):
            with pytest.raises(library.api.ConnectionFailed, match=r"\(tries: 1\)"):
                client.download(url)
    assert seconds_of_retries(library, httpx.LocalProtocolError("an illegal header")) == 0


def test_any_odd_webhook_request_is_a_verification_error(library):
    now, body = datetime.now(UTC), json.dumps({"EventID": "one"})
    good = {
        "webhook-id": "one",
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Webhook(SECRET).sign("one", now, body),
    }
    requests: list[tuple[Any, dict[str, str]]] = [
        (b"\xff\xfe", good),
        (b"", good),
        (body, {**good, "webhook-signature": "v1"}),
        (body, {**good, "webhook-signature": "v1,a,b"}),
        (body, {**good, "webhook-signature": "v1,\u00e9"}),
        (body, {**good, "webhook-signature": "v1,x"}),
        *((body, {**good, "webhook-timestamp": text}) for text in ("nan", "1e400", "-inf", "1_0", "x")),
    ]

    assert library.api.verify_webhook(SECRET, body.encode(), good)["EventID"] == "one"
    for sent, headers in requests:
        with pytest.raises(library.api.WebhookVerificationError):
            library.api.verify_webhook(SECRET, sent, headers)


HOSTILE = "[/x] [red]no[/red] \x1b]8;;https://evil.example\x07here\x1b]8;;\x07 \u202egnp.exe \\"


def test_text_of_the_service_steers_no_terminal(library, monkeypatch, capsys):
    written = io.StringIO()
    console = type(library.screen.screen)(file=written, force_terminal=True, width=400, highlight=False)
    monkeypatch.setattr(library.screen, "screen", console)
    monkeypatch.setattr(library.orders, "screen", console)
    order = {"OrderNumber": HOSTILE, "StatusName": HOSTILE, "Total": 1.0, "Currency": HOSTILE}

    library.orders.show_order({**order, "OrderID": HOSTILE, "LatestDelivery": HOSTILE}, False)
    library.screen.show_table(["Name"], [[HOSTILE]], "")
    library.screen.show_json({"Name": HOSTILE + "\x9b31m"}, is_line=True)

    shown, printed = written.getvalue(), capsys.readouterr().out
    assert shown.count("[/x] [red]no[/red]") == 6
    assert "\x1b]8" not in shown
    assert not {"\x07", "\u202e", "\x9b"} & set(shown + printed)
    assert json.loads(printed)["Name"] == HOSTILE + "\x9b31m"


def test_refusal_with_hostile_text_is_one_sentence_and_an_exit_code(library, capsys):
    @library.screen.reported
    def fails() -> None:
        raise library.api.OAuthError("x", HOSTILE)

    with pytest.raises(typer.Exit) as ended:
        fails()

    assert ended.value.exit_code == 3
    assert "[/x]" in capsys.readouterr().err


def test_files_are_written_through_no_link_and_secrets_into_no_file_that_is_there(library, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    shared = tmp_path / "shared"
    shared.mkdir()
    for name in (".card.pdf", ".profile.json"):
        (shared / f"{name}.{os.getpid()}.part").symlink_to(victim)

    response = httpx.Response(200, content=b"a file", request=httpx.Request("GET", URL))
    library.api.Download(response).save(shared / "card.pdf")
    library.profiles.write_privately(shared / "profile.json", {"client_secret": "x"})

    assert victim.read_text() == "precious"
    assert (shared / "card.pdf").read_bytes() == b"a file"
    assert stat.S_IMODE((shared / "profile.json").stat().st_mode) == 0o600
    assert sorted(path.name for path in shared.iterdir() if not path.is_symlink()) == [
        "card.pdf",
        "profile.json",
    ]


def test_damaged_profile_is_as_none(library, tmp_path, monkeypatch):
    monkeypatch.setattr(library.profiles, "folder", lambda: tmp_path)
    for text in ("[]", "{}", '{"tokens": null, "odd": 1}', '{"tokens": 5}', "3"):
        Path(tmp_path / "profile.json").write_text(text)

        assert library.profiles.load() is None


@pytest.mark.parametrize(
    "url",
    [
        "http://print.example",
        "http://127.0.0.1.print.example/",
        "http://localhost@print.example",
        "HTTP://10.0.0.1:8000",
    ],
)
def test_secrets_are_not_sent_in_clear_to_other_machines(library, monkeypatch, url):
    monkeypatch.delenv("FULFILLMENT_ALLOW_HTTP", raising=False)
    known = {"client_id": "a", "client_secret": "b", "subscription_key": "c"}

    for client in (library.api.Client, library.api.AsyncClient):
        with pytest.raises(ValueError, match="in clear"):
            client(url, **known)
    with pytest.raises(ValueError, match="in clear"):
        library.api.start_sign_in(url, "client", "http://127.0.0.1/callback")
    library.api.Client(url, allow_http=True, **known).close()
    monkeypatch.setenv("FULFILLMENT_ALLOW_HTTP", "1")
    library.api.Client(url, **known).close()


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8000", "http://[::1]:8000", "http://a.localhost", "https://print.example"]
)
def test_this_machine_and_encrypted_services_need_no_permission(library, monkeypatch, url):
    monkeypatch.delenv("FULFILLMENT_ALLOW_HTTP", raising=False)

    library.api.Client(url, client_id="a", client_secret="b", subscription_key="c").close()
