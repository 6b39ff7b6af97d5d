import hashlib
import hmac

import pytest

from fulfillment.core import secrets
from fulfillment.core.secrets import (
    decrypt,
    digest,
    digests,
    encrypt,
    generate_secret,
    is_newest,
    mask_secret,
)

NEW, OLD = "a newer value of the test, long enough", "an older value of the test, long enough"


@pytest.fixture(autouse=True)
def two_values(settings):
    settings.PEPPERS = settings.ENCRYPTION_KEYS = [NEW, OLD]


def test_digest_is_the_keyed_one_under_the_newest_pepper():
    assert digest("value") == hmac.new(NEW.encode(), b"value", hashlib.sha256).hexdigest()
    assert digests("value") == [
        hmac.new(key.encode(), b"value", hashlib.sha256).hexdigest() for key in (NEW, OLD)
    ]
    assert digest("\ud800") != digest("?")


def test_generated_secrets_have_256_bits_and_their_prefix():
    values = {generate_secret("sfk_") for _ in range(100)}

    assert len(values) == 100
    assert {value[:4] for value in values} == {"sfk_"}
    assert {len(value) for value in values} == {4 + 43}


def test_encrypted_text_is_read_under_every_key_in_use(settings):
    settings.ENCRYPTION_KEYS = [OLD]
    before = encrypt("käse")
    settings.ENCRYPTION_KEYS = [NEW, OLD]

    assert (decrypt(before), decrypt(memoryview(before)), is_newest(before)) == ("käse", "käse", False)
    assert is_newest(encrypt("käse"))
    assert b"k\xc3\xa4se" not in encrypt("käse") != encrypt("käse")
    settings.ENCRYPTION_KEYS = [NEW]
    with pytest.raises(secrets.SecretUnreadable):
        decrypt(before)


def test_mask_shows_the_last_four_letters():
    assert mask_secret("sfk_0123456789") == "••••••••6789"


def test_cipher_of_the_same_keys_is_made_once():
    assert secrets._cipher(("a", "b")) is secrets._cipher(("a", "b"))
