"""A gang sheet as adapters get it: one job with a file for each layout, that names the jobs on it."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from operator import attrgetter
from typing import Any

from fulfillment.core.errors import DomainError, TooManyRequests, Unavailable
from printing.imposition import GangRequest, Plan, PlannedSheet, PressSheet, Slug, impose_sheet, plan_sheets
from printing.imposition.planning import request_of
from printing.imposition.sheets import Turn
from production.adapters.gang_settings import OFF, press_sheet
from production.gang_sheets.models import GangSheet
from production.interface import AdapterJob, GangSheetDetails, JobFile, JobItem, Member, WorkStyle
from production.jobs.models import Job
from production.jobs.services.adapter_jobs import PANELS, PDF, build_adapter_job
from production.providers.models import Provider
from production.providers.selectors import plain_settings
from production.tickets.values import paper_options

KIND_LENGTH, DIGEST_LENGTH = 300, 16
WORK_STYLES: Mapping[Turn, WorkStyle] = {
    "sheetwise": "Sheetwise",
    "work_and_turn": "WorkAndTurn",
    "work_and_tumble": "WorkAndTumble",
}


@dataclass(frozen=True, slots=True)
class SheetCandidate:
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


def sheet_for(provider: Provider) -> PressSheet | None:
    return press_sheet(plain_settings(provider))


def sheet_values(provider: Provider) -> dict[str, Any]:
    """The settings to store with a gang sheet: later changes of the provider's settings do not affect it."""
    sheet = sheet_for(provider)
    return asdict(sheet) if sheet else {}


def candidate_of(job: Job) -> SheetCandidate | None:
    """The job for a sheet. None if it is sent alone: its file has too many pages, is too large or cannot be used."""
    provider = job.provider
    if provider is None or not uses_gang_sheets(provider) or (sheet := sheet_for(provider)) is None:
        return None
    try:
        built_job, request = request_on_sheet(job, sheet)
    except (DomainError, ValueError):
        return None
    settings = plain_settings(provider)
    return SheetCandidate(
        sheet_kind(built_job, request),
        request.quantity,
        timedelta(minutes=settings["gang_wait"]),
        settings["gang_pieces"],
    )


def request_on_sheet(job: Job, sheet: PressSheet) -> tuple[AdapterJob, GangRequest]:
    """The job with its file as it is stored, and its pieces. Raises ValueError where they do not fit on the sheet."""
    built_job = build_adapter_job(job, is_stamped=False)
    request = gang_request(built_job)
    plan_sheets([request], sheet)
    return built_job, request


def gang_request(job: AdapterJob) -> GangRequest:
    """Raises ValueError for a job that cannot share a sheet."""
    if len(job.files) != 1 or not job.files[0].is_printed:
        raise ValueError(f"{job.number}: gang sheets take jobs with one print file and no papers.")
    if job.item.pages > 1 and not job.item.is_two_sided:
        raise ValueError(f"{job.number}: its pages are fronts of several sheets.")
    names = [f"{job.item.product_name} ({job.item.product_id})", job.item.preset, *_made_of(job.item)]
    request = request_of(
        job.number,
        job.files[0].content,
        quantity=job.item.quantity,
        preset=", ".join(filter(None, names)),
        is_head_to_foot=job.item.is_head_to_foot,
    )
    return replace(request, panels=PANELS.get(job.item.folding, 1))


def sheet_kind(job: AdapterJob, request: GangRequest) -> str:
    sides = "two sides" if request.is_two_sided else "one side"
    if request.is_two_sided and request.is_head_to_foot:
        sides += " head to foot"
    parts = [f"{request.width_mm:g} x {request.height_mm:g} mm", f"bleed {request.bleed_mm:g} mm", sides]
    # Before the paper, because long names of papers are cut off.
    parts += [f"preset {job.item.preset}"] if job.item.preset else []
    kind = ", ".join([*parts, *_made_of(job.item)])
    if len(kind) <= KIND_LENGTH:
        return kind
    digest = hashlib.sha256(kind.encode()).hexdigest()[:DIGEST_LENGTH]
    return f"{kind[: KIND_LENGTH - DIGEST_LENGTH - 1]} {digest}"


def _made_of(item: JobItem) -> list[str]:
    """Paper and finish as they were ordered, because the product may have changed, and the options that make another
    piece of the same print file."""
    materials = {
        "paper": item.stock_code,
        "g/m²": str(item.stock_weight_gsm or ""),
        "coating": item.coating,
        "finish": item.finish,
        "folding": item.folding,
    }
    # A template may print the name of the paper, which is still another paper.
    drawn_names = set(item.drawn_options) - paper_options(item.options).keys()
    options = {name: value for name, value in sorted(item.options.items()) if name not in drawn_names}
    return [f"{name} {value}" for name, value in (*materials.items(), *options.items()) if value]


@dataclass(frozen=True, slots=True)
class BuiltSheet:
    """`unusable` are jobs, by their keys, that cannot be on it, each with the reason; then nothing is built."""

    job: AdapterJob | None
    plan: Plan | None
    unusable: Mapping[int, str]


def build_sheet(gang: GangSheet, jobs: Sequence[Job]) -> BuiltSheet:
    """The same members give the same bytes. Raises Unavailable where the file storage is away."""
    sheet = PressSheet(**gang.sheet)
    built_jobs: list[AdapterJob] = []
    requests: list[GangRequest] = []
    unusable: dict[int, str] = {}
    for job in sorted(jobs, key=attrgetter("pk")):
        try:
            built_job, request = request_on_sheet(job, sheet)
        except (Unavailable, TooManyRequests):
            raise
        except (DomainError, ValueError) as error:
            unusable[job.pk] = str(error)
            continue
        built_jobs.append(built_job)
        requests.append(request)
    if unusable or not built_jobs:
        return BuiltSheet(None, None, unusable)
    plan = plan_sheets(requests, sheet)
    return BuiltSheet(_sheet_job(gang, plan, built_jobs), plan, {})


def _imposed_files(
    plan: Plan, jobs: Sequence[AdapterJob], names: Mapping[int, str], slug: Slug
) -> list[JobFile]:
    contents = {job.number: job.files[0].content for job in jobs}
    labels = {job.number: job.item.label for job in jobs}
    files = []
    for planned in plan.sheets:
        content = impose_sheet(planned, contents, labels, slug=slug)
        digest = hashlib.sha256(content).hexdigest()
        files.append(
            JobFile(names[planned.number], PDF, digest, content, copies=planned.printed, overs=planned.overs)
        )
    return files


def _sheet_item(plan: Plan, jobs: Sequence[AdapterJob]) -> JobItem:
    first, sheet = jobs[0], plan.sheets[0].sheet
    is_duplex = first.item.is_two_sided
    return replace(
        first.item,
        key="",
        label="",
        options=dict(sorted(set.intersection(*(set(job.item.options.items()) for job in jobs)))),
        spot_plates=sorted({plate for job in jobs for plate in job.item.spot_plates}),
        quantity=sum(job.item.quantity for job in jobs),
        # How the press turns the sheets, not how their pieces are turned.
        pages=1 if sheet.is_one_form or not is_duplex else 2,
        is_two_sided=is_duplex,
        binding="",
        binding_edge="",
        is_head_to_foot=sheet.is_tumbled,
    )


def _sheet_job(gang: GangSheet, plan: Plan, jobs: Sequence[AdapterJob]) -> AdapterJob:
    names = {planned.number: _name_sheet(gang, planned) for planned in plan.sheets}
    sheet, first_to_ship = plan.sheets[0].sheet, min(jobs, key=lambda job: job.ship_by or job.created)
    slug = Slug(gang.number, first_to_ship.ship_by.date() if first_to_ship.ship_by else None)
    return AdapterJob(
        number=gang.number,
        order_id="",
        order_number="",
        external_id="",
        store_id=jobs[0].store_id,
        created=gang.created,
        ship_by=first_to_ship.ship_by,
        deliver_by=None,
        item=_sheet_item(plan, jobs),
        recipient={},
        delivery_method="",
        files=_imposed_files(plan, jobs, names, slug),
        production_days=first_to_ship.production_days,
        is_rush=any(job.is_rush for job in jobs),
        note=_write_note(sheet, jobs),
        gang=GangSheetDetails(
            [_build_member(job, plan, names) for job in jobs],
            (sheet.width_mm, sheet.height_mm),
            WORK_STYLES[sheet.turn] if jobs[0].item.is_two_sided else "",
            plan.waste,
        ),
    )


def _write_note(sheet: PressSheet, jobs: Sequence[AdapterJob]) -> str:
    note = f"Gang sheet of {len(jobs)} job{'s' if len(jobs) > 1 else ''}; report each job by its own number."
    if sheet.is_one_form and jobs[0].item.is_two_sided:
        turned = "top to bottom" if sheet.is_tumbled else "left to right"
        note += f" Print the same form on both sides, turned {turned}."
    return note


def _build_member(job: AdapterJob, plan: Plan, names: Mapping[int, str]) -> Member:
    sheets_of_job = [planned for planned in plan.sheets if job.number in planned.counts]
    places = {names[planned.number]: planned.counts[job.number] for planned in sheets_of_job}
    runs = {names[planned.number]: planned.run for planned in sheets_of_job}
    return Member(replace(job, files=()), places, runs)


def _name_sheet(gang: GangSheet, planned: PlannedSheet) -> str:
    return f"{gang.number}-sheet-{planned.number:02}-run-{planned.printed}.pdf"
