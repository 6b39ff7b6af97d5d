"""Whether a job may share a gang sheet, with which others, and how long it waits for them."""

from dataclasses import dataclass, replace
from datetime import timedelta

from fulfillment.core.errors import DomainError
from printing.imposition import GangRequest, Sheet
from printing.imposition.planning import plan_sheets
from printing.imposition.reading import request_of
from production.adapters.gang_settings import OFF, press_sheet
from production.interface import Job as SentJob
from production.jobs.models import Job
from production.jobs.selectors import PANELS, adapter_job
from production.providers.models import Provider
from production.providers.selectors import plain_settings
from production.tickets.values import paper_options


@dataclass(frozen=True, slots=True)
class Candidate:
    """Jobs of one `kind` share sheets."""

    kind: str
    pieces: int
    wait: timedelta
    most_pieces: int


def uses_gang_sheets(provider: Provider | None) -> bool:
    """Whether jobs wait for each other there; read for every job, so it looks at the stored settings alone."""
    if provider is None or provider.settings.get("gang_sheets", OFF) == OFF:
        return False
    return bool(plain_settings(provider).get("gang_wait"))


def sheet_for(provider: Provider) -> Sheet | None:
    return press_sheet(plain_settings(provider))


def candidate_of(job: Job) -> Candidate | None:
    """None for a job that is sent alone: its file has too many pages, does not fit on a sheet, or cannot be used."""
    provider = job.provider
    if provider is None or not uses_gang_sheets(provider) or (sheet := sheet_for(provider)) is None:
        return None
    try:
        sent = adapter_job(job, is_stamped=False)
        request = gang_request(sent)
        plan_sheets([request], sheet)
    except (DomainError, ValueError):
        return None
    settings = plain_settings(provider)
    return Candidate(
        sheet_kind(sent, request),
        request.quantity,
        timedelta(minutes=settings["gang_wait"]),
        settings["gang_pieces"],
    )


def gang_request(sent: SentJob) -> GangRequest:
    """Raises ValueError for a job that cannot share a sheet."""
    if len(sent.files) != 1 or not sent.files[0].is_printed:
        raise ValueError(f"{sent.number}: gang sheets take jobs with one print file and no papers.")
    if sent.item.pages > 1 and not sent.item.two_sided:
        raise ValueError(f"{sent.number}: its pages are fronts of several sheets.")
    # Paper and finish belong to the product: only jobs of one share a sheet.
    named = [f"{sent.item.product_name} ({sent.item.product_id})", sent.item.stock_code, sent.item.preset]
    request = request_of(
        sent.number,
        sent.files[0].content,
        quantity=sent.item.quantity,
        preset=", ".join(filter(None, named)),
        is_head_to_foot=sent.item.is_head_to_foot,
    )
    return replace(request, panels=PANELS.get(sent.item.folding, 1))


def sheet_kind(sent: SentJob, request: GangRequest) -> str:
    sides = "two sides" if request.two_sided else "one side"
    if request.two_sided and request.is_head_to_foot:
        sides += " head to foot"
    parts = [f"{request.width_mm:g} x {request.height_mm:g} mm", f"bleed {request.bleed_mm:g} mm", sides]
    # Before the paper, because long names of papers are cut off.
    parts += [f"preset {sent.item.preset}"] if sent.item.preset else []
    parts += [f"{name} {value}" for name, value in paper_options(sent.item.options).items()]
    return ", ".join(parts)[:300]
