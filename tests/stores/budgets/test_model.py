"""The ledger against a small model, over years; `make soak ARGS="--only ledger"` takes ten times as many steps."""

import pytest

from tests.benchmarks import soak_ledger

STEPS = 1_000

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def test_ledger_does_what_the_model_does():
    assert soak_ledger.take_steps(STEPS, chance=7) >= STEPS
