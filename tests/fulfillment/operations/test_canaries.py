"""Secrets of every kind go through the real service; afterwards none of them stands where it must not."""

import logging
import re
from hashlib import sha256

import pytest
from django.apps import apps
from django.contrib.sessions.models import Session
from django.core import mail, signing
from django.test import Client
from django.urls import reverse

from accounts.callers import Caller
from accounts.devices import SALT as DEVICE_SALT
from accounts.selectors.users import subscription_keys
from accounts.services.email_changes import request_email_change
from accounts.services.mailed_links import send_reset_links
from accounts.services.users import create_user
from applications.registration.services.keys import regenerate_key
from applications.registration.services.owners import invite_owner
from applications.webhooks.services import webhooks
from fulfillment.core.secrets import decrypt, digest
from fulfillment.operations.backups.programs import run_program
from fulfillment.operations.secret_rotation import stored_secrets
from production.providers.models import Provider
from production.providers.services import ProviderValues, save_provider
from tests.support.accounts.oauth_flows import Party
from tests.support.accounts.two_factor import turned_on
from tests.support.scenario import ApiClient, World, build_world, confirm_password

PASSWORD = "canary-Pa55-phrase-of-nobody"
READ_BY_OPERATORS = (
    *("accounts", "applications", "stores", "delivery", "production"),
    *("oauth2_provider", "admin", "sessions"),
)

# Operators copy it from there to the provider; no other user opens that page.
SHOWN_TO_OPERATORS = {"/admin/production/provider/{provider}/change/": ["report address of a print provider"]}

# Of contents, and of recovery codes, which have a key of their own.
OTHER_DIGESTS = {"stores.Proof", "stores.BatchRow", "accounts.RecoveryCode"}

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def log():
    """Everything any logger says, at the lowest level, SQL statements included."""
    said = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            said.append(logging.Formatter().format(record) + repr(record.args))

    keep, root = Keep(), logging.getLogger()
    level = root.level
    root.addHandler(keep)
    root.setLevel(logging.DEBUG)
    yield said
    root.removeHandler(keep)
    root.setLevel(level)


@pytest.fixture
def planted(monkeypatch, settings):
    """A world in which one of each secret was made and used the way clients do it."""
    world = build_world()
    monkeypatch.setattr(webhooks, "check_webhook", lambda *args, **kwargs: None)
    settings.METRICS_TOKEN, settings.METRICS_OPEN = "canary-of-the-metrics-0123456789-abcdef", True
    user = create_user(
        tenant=world.tenant,
        username="canary",
        first_name="Canary",
        last_name="Bird",
        email="canary@print.example",
        password=PASSWORD,
        email_is_confirmed=True,
    )
    browser = Client()
    browser.post("/accounts/login/", {"username": "canary@print.example", "password": PASSWORD})
    device = browser.cookies["device"].value
    key = regenerate_key(application=world.application, key_id=world.application.keys.get().pk)
    party = Party(world.application, decrypt(key.ciphertext))
    code = party.code_for(user)
    tokens = party.redeem(code).json()
    renewed = party.refresh(tokens["refresh_token"]).json()
    own = party.token(grant_type="client_credentials").json()
    _, webhook_secret = webhooks.create_webhook(
        application=world.application, values={"URL": "https://hooks.example/in", "EventTypes": ["*"]}
    )
    unused = party.code_for(user)
    authenticator, recovery = turned_on(world.outsider)
    page = confirm_password(browser, PASSWORD).get("/profile/two-factor/set-up").content.decode()
    being_set_up = re.search(r"<code>([A-Z2-7 ]{39})</code>", page)[1].replace(" ", "")
    invite_owner(caller=Caller.on_pages(world.user), application=world.application, email="guest@far.example")
    request_email_change(user=user, email="new@print.example")
    send_reset_links(email="canary@print.example")
    letters = "".join(letter.body for letter in mail.outbox)
    reset_path, reset_token = re.search(r"(/accounts/password-reset/\S+?/([^/\s]+)/)", letters).groups()
    # The page keeps the token for the form that follows.
    assert Client().get(reset_path).status_code == 302
    provider_secret = "canary-of-a-print-provider-0123456789"
    settings_of_flow = {"token": "press", "secret": provider_secret, "destination": "press"}
    provider = save_provider(
        values=ProviderValues(code="canary", name="Canary", adapter="siteflow", settings=settings_of_flow)
    )
    report_address = decrypt(provider.postback_ciphertext)
    assert report_to(report_address).status_code == 200
    kept = world.as_user(user).call(
        "POST", "/application", {"Name": "Kept", "Keys": [{}]}, headers={"Idempotency-Key": "once"}
    )
    secrets = {
        "owner invitation": re.search(r"/invitations/(sfi_[\w-]+)", letters)[1],
        "e-mail change": re.search(r"/accounts/email/(sfe_[\w-]+)", letters)[1],
        "password reset": reset_token,
        "device cookie": device,
        "device": signing.loads(device, salt=DEVICE_SALT)["device"],
        "METRICS_TOKEN": settings.METRICS_TOKEN,
        "key in a kept answer": kept.json()["Keys"][0]["Value"],
        "authenticator being set up": being_set_up,
        "authenticator": authenticator,
        "recovery code": recovery[0],
        "password": PASSWORD,
        "client secret": party.secret,
        "authorization code": code,
        "unused authorization code": unused,
        "spent access token": tokens["access_token"],
        "spent refresh token": tokens["refresh_token"],
        "access token": renewed["access_token"],
        "refresh token": renewed["refresh_token"],
        "application's own token": own["access_token"],
        "primary subscription key": subscription_keys(user.subscription)["primary"],
        "secondary subscription key": subscription_keys(user.subscription)["secondary"],
        "webhook secret": webhook_secret,
        "secret of a print provider": provider_secret,
        "report address of a print provider": report_address,
        "session ID": browser.cookies["sessionid"].value,
        "pepper": settings.PEPPERS[0],
        "encryption key": settings.ENCRYPTION_KEYS[0],
        "SECRET_KEY": settings.SECRET_KEY,
    }
    return world, party, secrets


def report_to(secret: str):
    """A report of an unknown job, at the address of the provider."""
    report = {"sourceOrderId": "nobody", "status": "printready", "timestamp": "2026-01-02T03:04:05Z"}
    address = reverse("production_postback", args=["canary", secret])
    client = Client(raise_request_exception=False)
    return client.post(address, report, content_type="application/json")


def found_in(text: str, secrets: dict[str, str]) -> list[str]:
    return [name for name, value in secrets.items() if value in text]


def refused_answers(world: World, party: Party, secrets: dict[str, str]) -> list:
    """Every secret where it is wrong, so that an error has a reason to show it."""
    answers = [report_to(secrets["report address of a print provider"]), report_to("nothing")]
    for value in secrets.values():
        anonymous = Client(raise_request_exception=False)
        answers += [
            ApiClient(value, value).call("GET", "/application"),
            ApiClient(secrets["access token"], value).call("GET", "/application"),
            party.redeem(value),
            party.refresh(value),
            Party(world.application, f"{value}x").token(grant_type="client_credentials"),
            anonymous.post("/accounts/login/", {"username": "canary", "password": f"{value}x"}),
            anonymous.get("/metrics", headers={"Authorization": f"Bearer {value}x"}),
        ]
    return answers


@pytest.mark.slow
def test_database_dump_holds_no_secret(planted, tmp_path):
    _, _, secrets = planted
    run_program("pg_dump", f"--file={tmp_path / 'dump.sql'}", "--inserts")
    dump = (tmp_path / "dump.sql").read_text("utf-8")

    # What a session keeps is signed and packed in a dump, which is no secrecy.
    sessions = "".join(repr(session.get_decoded()) for session in Session.objects.all())
    assert "canary@print.example" in dump
    assert "_password_reset_token" in sessions
    assert found_in(dump + sessions, secrets) == []


@pytest.mark.slow
def test_logs_and_error_answers_hold_no_secret(planted, log):
    world, party, secrets = planted
    answers = refused_answers(world, party, secrets)

    bodies = "".join(
        f"{response.headers}{response.content.decode('utf-8', 'replace')}" for response in answers
    )
    assert {response.status_code // 100 for response in answers} <= {2, 3, 4}
    assert found_in(bodies, secrets) == []
    reported = [record for record in log if found_in(record, secrets)]
    assert reported == []


@pytest.mark.slow
def test_pages_of_operators_show_no_secret(planted):
    world, _, secrets = planted
    browser = Client()
    browser.force_login(world.operator)
    provider = Provider.objects.get().pk
    shown = {path.format(provider=provider): names for path, names in SHOWN_TO_OPERATORS.items()}
    seen = 0
    for model in apps.get_models():
        if model._meta.app_label not in READ_BY_OPERATORS:
            continue
        address = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        listed = browser.get(address)
        if listed.status_code != 200:
            continue
        pages = [listed]
        for row in model._default_manager.all()[:5]:
            pages += [browser.get(f"{address}{row.pk}/change/"), browser.get(f"{address}{row.pk}/history/")]
        for page in pages:
            path = page.request["PATH_INFO"]
            assert found_in(page.content.decode(), secrets) == shown.get(path, []), path
        seen += len(pages)
    assert seen > 20


@pytest.mark.slow
def test_every_kind_of_stored_secret_is_planted(planted):
    """A new kind of secret that is kept, as a cipher text or as a digest, fails here until it is planted."""
    _, _, secrets = planted
    known = [
        each for value in secrets.values() for each in (digest(value), sha256(value.encode()).hexdigest())
    ]

    assert len(set(secrets.values())) == len(secrets)
    for stored in stored_secrets():
        opened = "\n".join(
            decrypt(ciphertext)
            for ciphertext in stored.model.objects.values_list(stored.ciphertext, flat=True)
        )
        assert found_in(opened, secrets), stored.name
    for model in apps.get_models():
        fields = {field.name for field in model._meta.fields}
        if "digest" in fields and model._meta.label not in OTHER_DIGESTS:
            assert model.objects.filter(digest__in=known).exists(), model._meta.label
