"""asyncio, sign-in and webhooks: what no operation shows."""

import json
import subprocess
from datetime import UTC, datetime
from typing import Any

import pytest
from standardwebhooks import Webhook

from accounts.models import User
from tests.clients.conftest import PROGRAMS
from tests.support.browser.interop_browser import Browser
from tests.support.patience import PATIENCE

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
EVENT = {"EventID": "an-event", "Type": "order.shipped", "Data": {"StatusName": "Shipped"}}
VERIFY = """
import json, sys
from store_fulfillment import WebhookVerificationError, verify_webhook
sent = json.load(sys.stdin)
assert verify_webhook(sent["secret"], sent["body"].encode(), sent["headers"])["Type"] == "order.shipped"
try:
    verify_webhook(sent["secret"], sent["body"] + " ", sent["headers"])
except WebhookVerificationError:
    print("refused")
"""


def signed_request() -> dict[str, Any]:
    now, body = datetime.now(UTC), json.dumps(EVENT)
    headers = {
        "Webhook-Id": "an-event",
        "Webhook-Timestamp": str(int(now.timestamp())),
        "Webhook-Signature": Webhook(SECRET).sign("an-event", now, body),
    }
    return {"secret": SECRET, "body": body, "headers": headers}


@pytest.mark.slow
def test_python_verifies_webhooks(python, tmp_path):
    (tmp_path / "verify.py").write_text(VERIFY)

    assert python(tmp_path / "verify.py", input=json.dumps(signed_request())) == "refused\n"


@pytest.mark.slow
def test_asyncio_client_does_the_same(python, given):
    python(PROGRAMS / "async_client.py", input=json.dumps(given))


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_typescript_signs_a_person_in_and_renews_once(npm_project, given, untrusted_url, tmp_path):
    more = {"webhook": signed_request(), "untrusted": untrusted_url}
    (tmp_path / "given.json").write_text(json.dumps(given | more))
    person = Browser(User.objects.get(pk=given["user"]["id"]))

    with subprocess.Popen(
        ["node", "out/sign-in.js", str(tmp_path / "given.json")],
        cwd=npm_project,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        address = process.stdout.readline().strip()
        assert address, process.stderr.read()
        output, complaints = process.communicate(person.consent(address) + "\n", timeout=PATIENCE)

    assert process.returncode == 0, complaints
    assert output.splitlines()[-1] == "done"
