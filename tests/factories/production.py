"""Providers, rules and jobs as the console makes them."""

from pathlib import Path
from typing import Any

from production.adapters.folder import FolderAdapter
from production.adapters.folder_settings import FolderSettings
from production.dispatch.services.sending import claim_due_jobs, work_on_job
from production.gang_sheets.services.sending import claim_due_sheets, work_on_sheet
from production.jobs.models import Job
from production.providers.ledger import ProviderLedger
from production.providers.models import Provider
from production.providers.services import ProviderValues, save_provider
from production.routing.models import RoutingChoice, RoutingRule
from stores.orders.models import ActorKind, Order, OrderStatus
from stores.orders.services.changes import Actor
from stores.orders.services.transitions import transition_order
from tests.support.production.sftp_server import PASSWORD, PressServer

STORE = Actor(ActorKind.STORE)


def make_provider(folder: Path, code: str = "press", **changes: Any) -> Provider:
    """A hot folder below `folder`, which is made; `settings` go beside the two folders."""
    hot, back = folder / code / "in", folder / code / "out"
    for one in (hot, back):
        one.mkdir(parents=True, exist_ok=True)
    settings = {"folder": str(hot), "return_folder": str(back), **changes.pop("settings", {})}
    values = {"code": code, "name": code.title(), "adapter": "folder", "settings": settings, **changes}
    return save_provider(values=ProviderValues(**values))


def make_sftp_provider(press: PressServer, code: str = "sftp") -> Provider:
    settings = {**press.settings(), "password": PASSWORD}
    return save_provider(
        values=ProviderValues(code=code, name=code.title(), adapter="sftp", settings=settings)
    )


def make_rule(*providers: Provider, priorities: tuple[int, ...] = (), **values: Any) -> RoutingRule:
    """Providers stand one behind the other, unless `priorities` say otherwise."""
    rule = RoutingRule.objects.create(**{"name": "Everything", **values})
    for number, provider in enumerate(providers):
        priority = priorities[number] if priorities else number + 1
        RoutingChoice.objects.create(rule=rule, provider=provider, priority=priority)
    return rule


def make_press(folder: Path, **changes: Any) -> Provider:
    """A provider that gets every job."""
    provider = make_provider(folder, **changes)
    make_rule(provider)
    return provider


def accept(order: Order | str) -> Order:
    found = order if isinstance(order, Order) else Order.objects.get(pk=order)
    return transition_order(order=found, status=OrderStatus.ACCEPTED, actor=STORE)


def work_off_jobs() -> int:
    """Does what is due, as a worker would; returns how many exchanges there were."""
    done = sum(work_on_job(job_pk=key) for key in claim_due_jobs(limit=100))
    while keys := claim_due_sheets(limit=100):
        done += sum(work_on_sheet(sheet_pk=key) for key in keys)
    return done


def only_job(**wanted: Any) -> Job:
    return Job.objects.select_related("order", "provider").get(**wanted)


def folder_adapter(places: tuple[Path, Path], **more: Any) -> FolderAdapter:
    """The adapter of a hot folder and its return folder, below PRODUCTION_FOLDERS, always with the same ledger."""
    values = {"folder": str(places[0]), "return_folder": str(places[1]), **more}
    provider, _ = Provider.objects.get_or_create(
        code="press",
        defaults={
            "name": "Press",
            "adapter": "folder",
            "secrets_ciphertext": b"",
            "postback_ciphertext": b"",
        },
    )
    return FolderAdapter(FolderSettings(values).read(), {}, ProviderLedger(provider.pk))
