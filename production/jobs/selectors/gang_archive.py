"""The files of one gang sheet for download."""

import io
import zipfile
from collections.abc import Iterator

from production.jobs.models import GangSheet
from production.jobs.selectors.gang_building import build_sheet, sheet_values
from production.jobs.selectors.gang_requests import sheet_for
from production.tickets import write_json_ticket


def sheet_archive(sheet: GangSheet) -> Iterator[bytes]:
    """A ZIP; what cannot be imposed is named in `left-out.txt`."""
    paper = sheet_for(sheet.provider)
    sheet.sheet = sheet.sheet or (sheet_values(paper) if paper else {})
    jobs = list(sheet.jobs.select_related("order__store", "item__product", "provider").order_by("pk"))
    built = build_sheet(sheet, jobs)
    if built.unusable:
        left_out = list(built.unusable.values())
        built = build_sheet(sheet, [job for job in jobs if job.pk not in built.unusable])
    else:
        left_out = []
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as packed:
        if built.job is not None:
            for file in built.job.files:
                packed.writestr(file.name, file.content)
            packed.writestr(f"{built.job.number}.json", write_json_ticket(built.job))
        if left_out:
            packed.writestr("left-out.txt", "\n".join(left_out) + "\n")
    yield archive.getvalue()
