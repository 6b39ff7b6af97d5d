"""The ledger against a small model, over years: 10,000 steps, also `make soak ARGS="--only ledger"`."""

import pytest

from tests.benchmarks import soak_ledger

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def test_ledger_does_what_the_model_does():
    taken = soak_ledger.take_steps()

    assert taken >= soak_ledger.STEPS
