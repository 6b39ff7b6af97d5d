"""A slow or hostile press delays the reports of no other."""

import asyncio
import threading
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta

import pytest
from django.db import connection

from fulfillment.core.outbox import ThreadedOutbox
from production.adapters.folder import FolderAdapter
from production.dispatch.services import polling
from production.dispatch.services.polling import claim_providers_to_poll, poll_provider
from production.interface import Report
from production.providers.models import Provider
from production.worker import POLLS_AT_ONCE
from tests.factories.production import make_provider
from tests.support.patience import PATIENCE


@pytest.fixture
def providers(settings, tmp_path) -> list[Provider]:
    settings.PRODUCTION_FOLDERS = [tmp_path]
    return [make_provider(tmp_path, f"press-{number}") for number in range(POLLS_AT_ONCE)]


@pytest.mark.django_db(transaction=True)
def test_one_press_is_polled_again_and_again_while_all_others_hang(providers, monkeypatch):
    *slow, quick = [provider.pk for provider in providers]
    polled: list[int] = []
    end, hanging = threading.Event(), threading.Barrier(len(slow) + 1)
    monkeypatch.setattr(polling, "POLL_EVERY", timedelta(0))

    def poll(provider_pk: int) -> None:
        polled.append(provider_pk)
        if provider_pk in slow:
            with suppress(threading.BrokenBarrierError):
                hanging.wait(PATIENCE)
            end.wait(PATIENCE)

    def claim(**values) -> Sequence[int]:
        try:
            return claim_providers_to_poll(**values)
        finally:
            connection.close()

    reports = ThreadedOutbox(
        "print reports", claim=claim, work=poll, at_once=POLLS_AT_ONCE, poll_seconds=0.01
    )

    async def play() -> None:
        polling = asyncio.create_task(reports.poll_due())
        try:
            await asyncio.to_thread(hanging.wait, PATIENCE)
            async with asyncio.timeout(PATIENCE):
                while polled.count(quick) < 4:
                    await asyncio.sleep(0.01)
        finally:
            end.set()
            polling.cancel()
            await reports.close()

    asyncio.run(play())

    assert [polled.count(pk) for pk in slow] == [1] * len(slow), "each has one thread and no more"


@pytest.mark.django_db
def test_provider_that_is_polled_now_is_not_claimed_again(providers):
    first, *others = [provider.pk for provider in providers]

    assert set(claim_providers_to_poll(limit=100, under_way=[first])) == set(others)


@pytest.mark.django_db
@pytest.mark.parametrize(("seconds", "rounds"), [(-1.0, 1), (60.0, polling.MAX_IN_A_ROW)])
def test_polls_in_a_row_end_at_the_deadline(providers, monkeypatch, seconds, rounds):
    calls: list[int] = []

    def endless(self):
        calls.append(1)
        return [Report(f"{len(calls)}", "1-1", "Shipped", None)]

    monkeypatch.setattr(FolderAdapter, "poll", endless)
    monkeypatch.setattr(polling, "POLL_SECONDS", seconds)

    poll_provider(provider_pk=providers[0].pk)

    assert len(calls) == rounds
