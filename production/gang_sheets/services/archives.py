"""Gang sheets as ZIP archives: those that chosen jobs would make, and the files of one sheet."""

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from fulfillment.core.csv_rows import write_csv_row
from fulfillment.core.errors import DomainError
from fulfillment.core.files.downloads import ZipStream
from printing.imposition import GangRequest, Plan, PressSheet, Slug, impose_sheet, plan_sheets
from production.gang_sheets.models import GangSheet
from production.gang_sheets.services.building import build_sheet, request_on_sheet, sheet_for, sheet_values
from production.jobs.models import OPEN, UNREAD, Job
from production.providers.models import Provider
from production.tickets import write_json_ticket

# The size of all print files of an archive, whose sheets are made in memory. A single file may be larger.
MAX_ARCHIVE_BYTES = 48_000_000
PLAN_COLUMNS = ("File", "Run", "Overs", "Job", "Pieces per sheet", "Pieces in total", "Ordered")


@dataclass(slots=True)
class _Gang:
    """The jobs of one provider."""

    sheet: PressSheet
    requests: list[GangRequest] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    days: dict[str, date] = field(default_factory=dict)


def gang_archive(jobs: Sequence[Job]) -> Iterator[bytes]:
    """Yields a ZIP: the sheets of each provider, their plan, and the reasons for omitted jobs."""
    archive = ZipStream()
    left_out: list[str] = []
    for code, gang in _group_jobs(jobs, left_out).items():
        for name, content in _write_sheets(gang, left_out):
            yield from archive.add(f"{code}/{name}", content)
    yield from _write_end(archive, left_out)


def _group_jobs(jobs: Sequence[Job], left_out: list[str]) -> Mapping[str, _Gang]:
    gangs: dict[str, _Gang] = {}
    total_bytes = 0
    for job in jobs:
        try:
            if job.state not in OPEN:
                raise ValueError(f"{job.number}: it is {job.get_state_display().lower()}.")
            if total_bytes and total_bytes + job.item.print_bytes > MAX_ARCHIVE_BYTES:
                raise ValueError(f"{job.number}: the archive is full. Select fewer jobs.")
            provider, sheet = _provider_with_sheet(job)
            # Planned together below; checked alone here, so that only this job is refused.
            built_job, request = request_on_sheet(job, sheet)
        except DomainError as error:
            left_out.append(f"{job.number}: {error.message}")
            continue
        except ValueError as error:
            left_out.append(str(error))
            continue
        gang = gangs.setdefault(provider.code, _Gang(sheet))
        gang.requests.append(request)
        gang.files[job.number] = built_job.files[0].content
        gang.labels[job.number] = built_job.item.label
        gang.days[job.number] = job.due
        total_bytes += len(gang.files[job.number])
    return gangs


def _provider_with_sheet(job: Job) -> tuple[Provider, PressSheet]:
    provider = job.provider
    if provider is None:
        raise ValueError(f"{job.number}: no provider has it yet.")
    sheet = sheet_for(provider)
    if sheet is None:
        raise ValueError(f"{job.number}: gang sheets are off at {provider}.")
    return provider, sheet


def _write_sheets(gang: _Gang, left_out: list[str]) -> Iterator[tuple[str, bytes]]:
    plan = plan_sheets(gang.requests, gang.sheet)
    names: dict[int, str] = {}
    for planned in plan.sheets:
        names[planned.number] = f"sheet-{planned.number:02}-run-{planned.printed}.pdf"
        try:
            slug = Slug(ship_by=min(gang.days[number] for number in planned.counts))
            yield names[planned.number], impose_sheet(planned, gang.files, gang.labels, slug=slug)
        except ValueError as error:
            left_out.append(f"{names[planned.number]}: {error}")
    yield "plan.csv", _plan_rows(plan, names)


def _plan_rows(plan: Plan, names: Mapping[int, str]) -> bytes:
    text = io.StringIO()
    write_csv_row(text, PLAN_COLUMNS)
    for planned in plan.sheets:
        for job, count in planned.counts.items():
            sheets = (names[planned.number], planned.run, planned.overs)
            row = (*sheets, job, count, planned.run * count, plan.ordered[job])
            write_csv_row(text, row)
    return text.getvalue().encode()


def sheet_archive(sheet: GangSheet) -> Iterator[bytes]:
    """A ZIP; what cannot be imposed is named in `left-out.txt`."""
    archive = ZipStream()
    sheet.sheet = sheet.sheet or sheet_values(sheet.provider)
    members = sheet.jobs.select_related("order__store", "item__product", "provider")
    jobs = list(members.defer(*UNREAD).order_by("pk"))
    size = sum(job.item.print_bytes for job in jobs)
    if len(jobs) > 1 and size > MAX_ARCHIVE_BYTES:
        reason = f"{size / 1e6:,.0f} MB of print files; a download takes {MAX_ARCHIVE_BYTES / 1e6:,.0f} MB."
        yield from _write_end(archive, [f"{sheet}: {reason} The provider gets the whole sheet."])
        return
    built = build_sheet(sheet, jobs)
    left_out = list(built.unusable.values())
    if left_out:
        built = build_sheet(sheet, [job for job in jobs if job.pk not in built.unusable])
    if built.job is not None:
        for file in built.job.files:
            yield from archive.add(file.name, file.content)
        yield from archive.add(f"{built.job.number}.json", write_json_ticket(built.job))
    yield from _write_end(archive, left_out)


def _write_end(archive: ZipStream, left_out: Sequence[str]) -> Iterator[bytes]:
    if left_out:
        yield from archive.add("left-out.txt", "\n".join(left_out) + "\n")
    yield from archive.finish()
