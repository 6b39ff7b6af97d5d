"""Admins of records that cannot be changed, or that a service removes."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from fulfillment.core.admin.base import ConsoleAdmin
from fulfillment.core.page_messages import errors_as_messages


class ReadOnlyAdmin(ConsoleAdmin):
    """For records that only services write."""

    forbidden = ("add", "change", "delete")


class RemovedByService(ConsoleAdmin):
    """Deletes records by a service, which may refuse, such as for a record in use."""

    def remove(self, record: Any) -> None:
        """Calls the service; raises DomainError."""
        raise NotImplementedError

    def delete_model(self, request: HttpRequest, instance: Any) -> None:
        with errors_as_messages(request):
            self.remove(instance)

    def delete_queryset(self, request: HttpRequest, records: QuerySet) -> None:
        for record in records:
            self.delete_model(request, record)

    def response_delete(self, request: HttpRequest, display: str, object_id: Any) -> HttpResponse:
        """Reports no deletion if the service refused it."""
        if self.model._base_manager.filter(pk=object_id).exists():  # noqa: SLF001 - every row
            return HttpResponseRedirect(
                reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist")
            )
        return super().response_delete(request, display, object_id)
