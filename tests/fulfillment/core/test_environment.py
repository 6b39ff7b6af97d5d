import pytest
from django.core.exceptions import ImproperlyConfigured

from fulfillment.core import environment


def retention_days():
    return environment.integer("PROOF_RETENTION_DAYS", 45, minimum=33, former_name="PROOF_DAYS_KEPT")


def test_renamed_variable_is_read_under_its_former_name(monkeypatch):
    monkeypatch.setenv("PROOF_DAYS_KEPT", "60")
    assert retention_days() == 60

    monkeypatch.setenv("PROOF_RETENTION_DAYS", "90")
    assert retention_days() == 90


def test_refusal_of_a_renamed_variable_names_the_one_that_is_set(monkeypatch):
    monkeypatch.setenv("PROOF_DAYS_KEPT", "5")

    with pytest.raises(ImproperlyConfigured, match="PROOF_DAYS_KEPT is '5'; write a whole number from 33"):
        retention_days()
