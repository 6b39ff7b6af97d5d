"""Failing providers are tested again, each whatever another one answers."""

import threading

import pytest
from django.utils import timezone

from production.adapters.folder import FolderAdapter
from production.interface import ProviderRefused, ProviderUnavailable
from production.providers.models import Provider
from production.providers.services import review_failing_providers
from tests.factories.production import make_provider

pytestmark = pytest.mark.django_db
ODD = "x\0y \ud800"


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (ProviderRefused(ODD), "xy ?"),
        (ProviderUnavailable(ODD), "xy ?"),
        (OverflowError("timestamp out of range"), "down"),
    ],
)
def test_odd_answer_of_a_provider_keeps_no_other_from_recovering(
    settings, tmp_path, monkeypatch, error, shown
):
    settings.PRODUCTION_FOLDERS = [tmp_path]
    odd, good = make_provider(tmp_path, "odd"), make_provider(tmp_path, "good")
    Provider.objects.update(failing_since=timezone.now(), last_error="down")
    check = FolderAdapter.check_connection

    def answer(self):
        if self._settings["folder"] == odd.settings["folder"]:
            raise error
        return check(self)

    monkeypatch.setattr(FolderAdapter, "check_connection", answer)

    assert review_failing_providers() == 1
    assert Provider.objects.get(pk=good.pk).failing_since is None
    assert Provider.objects.get(pk=odd.pk).last_error == shown


def test_slow_provider_delays_no_other(settings, tmp_path, monkeypatch):
    settings.PRODUCTION_FOLDERS = [tmp_path]
    slow, _ = make_provider(tmp_path, "a-slow"), make_provider(tmp_path, "good")
    Provider.objects.update(failing_since=timezone.now(), last_error="down")
    check, other_checked, waited = FolderAdapter.check_connection, threading.Event(), []

    def answer(self):
        if self._settings["folder"] == slow.settings["folder"]:
            waited.append(other_checked.wait(5))
        other_checked.set()
        return check(self)

    monkeypatch.setattr(FolderAdapter, "check_connection", answer)

    assert review_failing_providers() == 2
    assert waited == [True]
