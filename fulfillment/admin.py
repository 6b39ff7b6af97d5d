"""Background jobs, as the task queue keeps them: to look at, by our own rules of who may."""

from django.contrib import admin
from procrastinate.contrib.django.models import ProcrastinateJob

from fulfillment.read_only_admin import ReadOnlyAdmin

admin.site.unregister(ProcrastinateJob)


@admin.register(ProcrastinateJob)
class JobAdmin(ReadOnlyAdmin):
    list_display = ["id", "task_name", "queue_name", "status", "attempts", "scheduled_at"]
    list_filter = ["status"]
    search_fields = ["id"]
    exact_search = {"pk": int, "task_name": str, "queue_name": str}
    search_help_text = "ID, task or queue, written out"
    fields = ["id", "task_name", "queue_name", "status", "attempts", "scheduled_at", "lock", "args"]
    ordering = ["-id"]
