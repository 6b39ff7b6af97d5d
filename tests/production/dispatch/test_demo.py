"""The way of a newcomer: the press of the demo data, and the command that plays it."""

import io
import os
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from fulfillment.core.errors import Invalid
from production.adapters import folder_returns
from production.demo import set_up_demo_press
from production.dispatch.services.polling import poll_provider
from production.management.commands import play_press
from stores.orders.models import Order, OrderStatus
from tests.factories.orders import order_body
from tests.factories.production import accept, only_job, work_off_jobs
from tests.support.orders.shop import Shop

pytestmark = pytest.mark.django_db


@pytest.fixture
def provider(world, settings, tmp_path, monkeypatch):
    settings.PRODUCTION_FOLDERS = [tmp_path]
    monkeypatch.setattr(play_press, "POLL_SECONDS", 0)
    monkeypatch.setattr(folder_returns, "SETTLED_SECONDS", -5)
    return set_up_demo_press(code="demo-press", store_id=world.associated.external_id, root=tmp_path)


@pytest.fixture
def order(world, provider) -> Order:
    order = accept(Shop(world).place(body=order_body()).json()["OrderID"])
    assert work_off_jobs() == 1
    return order


def play(seconds: float = 0) -> str:
    said = io.StringIO()
    call_command("play_press", seconds=seconds, once=True, stdout=said)
    return said.getvalue()


def test_accepted_order_is_taken_printed_and_shipped_by_the_demo_press(provider, order):
    said, number = play(), only_job().number
    assert [line for line in said.splitlines() if line.startswith("Job")] == [
        f"Job {number}: taken, 100 x Product card",
        f"Job {number}: printing",
        f"Job {number}: shipped as DEMO{number.replace('-', '')}",
    ]
    poll_provider(provider_pk=provider.pk)
    order.refresh_from_db()
    assert (only_job().state, order.status) == ("Shipped", OrderStatus.SHIPPED)
    assert order.tracking_numbers == [f"DEMO{number.replace('-', '')}"]


def test_press_that_was_stopped_goes_on_with_what_it_had_taken(provider, order):
    hot, back = Path(provider.settings["folder"]), Path(provider.settings["return_folder"])
    assert play_press.DemoPress(hot, back, 3600, print).look() == 1
    assert "shipped as" in play()
    assert play().count("\n") == 1


def test_press_without_its_provider_says_so(provider):
    with pytest.raises(CommandError, match="No provider with the code 'other' has a hot folder"):
        call_command("play_press", provider="other", once=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_root_gives_away_nothing_that_a_link_among_the_folders_names(world, settings, tmp_path):
    root, outside = tmp_path / "production", tmp_path / "outside"
    settings.PRODUCTION_FOLDERS, settings.MEDIA_ROOT = [root], root
    (root / "demo-press").mkdir(parents=True)
    os.chown(root, 4711, 4712)
    os.chown(root / "demo-press", 4711, 4712)
    outside.mkdir()
    (root / "demo-press" / "in").symlink_to(outside)

    with pytest.raises(Invalid, match="is outside of the folders of PRODUCTION_FOLDERS"):
        set_up_demo_press(code="demo-press", store_id=world.associated.external_id, root=root)

    assert outside.stat().st_uid == 0
    assert (root / "demo-press" / "out").stat().st_uid == 4711
