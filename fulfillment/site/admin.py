"""Admin of the background jobs of the task queue, with our own access rules: read-only, but failed jobs run again."""

import json
from copy import copy
from typing import Any

import unfold.fields
from django.apps import apps
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from procrastinate.contrib.django.models import ProcrastinateJob

from fulfillment.core.admin.confirmation import requires_confirmation
from fulfillment.core.admin.read_only import ReadOnlyAdmin
from fulfillment.core.http.dangerous import harmless
from fulfillment.site.failed_jobs import run_failed_jobs_again

# A copy: Django would want a migration of that package for other words in the model itself.
WORDED = copy(ProcrastinateJob._meta)
WORDED.verbose_name, WORDED.verbose_name_plural = "background job", "background jobs"


def show_json(data: Any, encoder: type[json.JSONEncoder] | None) -> SafeString:
    """Replaces unfold's, which colors by inline styles where Pygments is installed; the policy forbids those."""
    return format_html("<pre>{}</pre>", json.dumps(data, indent=2, ensure_ascii=False, cls=encoder))


unfold.fields.prettify_json = show_json
admin.site.unregister(ProcrastinateJob)
apps.get_app_config("procrastinate").verbose_name = "Background work"


@admin.register(ProcrastinateJob)
class BackgroundJobAdmin(ReadOnlyAdmin):
    plural_name = "Background jobs"
    list_display = ["id", "task_name", "queue_name", "status", "attempts", "scheduled_at"]
    list_filter = ["status"]
    search_fields = ["id"]
    exact_search = {"pk": int, "task_name": str, "queue_name": str}
    search_help_text = "Exact ID, task or queue"
    fields = ["id", "task_name", "queue_name", "status", "attempts", "scheduled_at", "lock", "args"]
    ordering = ["-id"]
    empty_help = "No background jobs are waiting. Finished jobs leave this list."
    actions = ["run_again"]

    @harmless
    @admin.action(description="Run again …", permissions=["view"])
    @requires_confirmation("Run these jobs again? Only failed ones are run.", "Run again")
    def run_again(self, request: HttpRequest, jobs: QuerySet) -> None:
        if count := run_failed_jobs_again(jobs=jobs):
            queued = ngettext("%(count)s job will run again.", "%(count)s jobs will run again.", count)
            messages.success(request, queued % {"count": count})
        else:
            messages.warning(request, _("None of these jobs failed, or the same job already waits."))

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        changelist = super().get_changelist_instance(request)
        changelist.opts, changelist.title = WORDED, "Background jobs"
        return changelist

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        context = {
            "opts": WORDED,
            "title": _("Background job %(object_id)s") % {"object_id": object_id},
            **(extra_context or {}),
        }
        return super().changeform_view(request, object_id, form_url, context)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return super().changelist_view(request, {"opts": WORDED, **(extra_context or {})})
