from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, StreamingHttpResponse

from accounts.callers import Caller
from fulfillment.core.lanes import FILES
from production.jobs.models import Job
from production.jobs.selectors.gang_sheets import MAX_JOBS, gang_archive


class GangSheetActions:
    """For the admin of jobs."""

    @admin.action(description="Download gang sheets", permissions=["change"])
    def download_gang_sheets(
        self: Any, request: HttpRequest, chosen: QuerySet[Job]
    ) -> StreamingHttpResponse | None:
        jobs = [
            job for job in chosen.order_by("pk")[: MAX_JOBS + 1] if self.has_change_permission(request, job)
        ]
        if len(jobs) > MAX_JOBS:
            messages.error(request, f"Choose {MAX_JOBS} jobs at most.")
            return None
        headers = {
            "Content-Disposition": 'attachment; filename="gang-sheets.zip"',
            "Cache-Control": "no-store",
        }
        caller = Caller.on_pages(request.user)
        return StreamingHttpResponse(
            FILES.stream(gang_archive(jobs), caller.key), content_type="application/zip", headers=headers
        )
