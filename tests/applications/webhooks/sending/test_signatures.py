"""Signatures are those of Standard Webhooks: its reference vector, and its own libraries."""

import base64
import json
import subprocess
from datetime import UTC, datetime

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from applications.webhooks.selectors.signatures import generate_webhook_secret, signed_headers
from fulfillment.core.secrets import encrypt
from tests.support.browser.javascript import require_javascript_library

BODY = '{"EventID":"1","Type":"order.shipped","Data":{"StatusName":"Zür\u00fcck \u2713"}}'.encode()
VERIFY = """
const { Webhook } = require("standardwebhooks");
const { secrets, headers, body } = JSON.parse(require("fs").readFileSync(0, "utf8"));
for (const secret of secrets) {
  try { new Webhook(secret).verify(body, headers); console.log("verified"); }
  catch (error) { console.log(error.message); }
}
"""


def headers_for(*secrets: str, now: datetime | None = None, event_id: str = "9d6f2f0e") -> dict[str, str]:
    return signed_headers(
        ciphertexts=[encrypt(secret) for secret in secrets],
        event_id=event_id,
        now=now or datetime.now(UTC),
        body=BODY,
    )


def test_reference_vector_of_the_specification():
    headers = signed_headers(
        ciphertexts=[encrypt("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")],
        event_id="msg_p5jXN8AQM9LWM0D4loKWxJek",
        now=datetime.fromtimestamp(1614265330, UTC),
        body=b'{"test": 2432232314}',
    )

    assert headers == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


def test_secrets_have_the_form_of_the_specification():
    secret = generate_webhook_secret()

    assert secret.startswith("whsec_")
    assert 24 <= len(base64.b64decode(secret.removeprefix("whsec_"), validate=True)) <= 64
    assert secret != generate_webhook_secret()


def test_python_library_verifies_either_secret_of_a_rotation():
    old, new, foreign = (generate_webhook_secret() for _ in range(3))
    headers = headers_for(new, old)

    assert len(headers["webhook-signature"].split(" ")) == 2
    assert Webhook(new).verify(BODY, headers) == Webhook(old).verify(BODY, headers) == json.loads(BODY)
    with pytest.raises(WebhookVerificationError):
        Webhook(foreign).verify(BODY, headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(new).verify(BODY + b" ", headers)


def test_javascript_library_verifies_either_secret_of_a_rotation():
    require_javascript_library()
    old, new, foreign = (generate_webhook_secret() for _ in range(3))
    values = {"secrets": [new, old, foreign], "headers": headers_for(new, old), "body": BODY.decode()}

    response = subprocess.run(
        ["node", "-e", VERIFY], input=json.dumps(values).encode(), capture_output=True, check=True
    )

    assert response.stdout.decode().split("\n")[:3] == ["verified", "verified", "No matching signature found"]
